"""Memory and time of a step compiled in several ways, measured in turns. README.md says what the numbers mean."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from workers import Worker, in_turns

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {
    "recompute": {mode: ["--recompute", mode] for mode in ["none", "selective", "full"]},
    "overlap": {"one by one": ["--no-overlap", "--bucket-size", "0"], "buckets": ["--no-overlap"],
                "overlap": ["--overlap"]},
    "invariance": {
        "serial": ["--mesh", "dp=1"],
        "serial, --layout-invariant": ["--mesh", "dp=1", "--layout-invariant"],
        "tp=2": ["--mesh", "tp=2"],
        "tp=2, --layout-invariant": ["--mesh", "tp=2", "--layout-invariant"],
        "dp=2": ["--mesh", "dp=2"],
        "dp=2, --layout-invariant": ["--mesh", "dp=2", "--layout-invariant"],
    },
    "masks": {"all keys": [], "--document-mask, one document": ["--document-mask", "--separator", "50256"]},
    "strategies": {
        "serial": ["--mesh", "dp=1"],
        "dp=2": ["--mesh", "dp=2"],
        "tp=2": ["--mesh", "tp=2"],
        "tp=2, sequence parallel": ["--mesh", "tp=2", "--sequence-parallel"],
        "dp=2, ZeRO 1": ["--mesh", "dp=2", "--zero", "1"],
        "dp=2, ZeRO 3": ["--mesh", "dp=2", "--zero", "3"],
        "cp=2": ["--mesh", "cp=2"],
        "cp=2, Ulysses": ["--mesh", "cp=2", "--context-parallel", "ulysses"],
        "serial, 4 micro-batches": ["--mesh", "dp=1", "--micro-batches", "4"],
        "pp=2, 1F1B": ["--mesh", "pp=2", "--micro-batches", "4"],
        "pp=2, zero-bubble": ["--mesh", "pp=2", "--micro-batches", "4", "--schedule", "zero-bubble"],
    },
}
# The variant that another is compared with, if that is not the first.
BASES = {
    "strategies": {name: "serial, 4 micro-batches" for name in ("pp=2, 1F1B", "pp=2, zero-bubble")},
    "invariance": {f"{mesh}, --layout-invariant": mesh for mesh in ("tp=2", "dp=2")} | {"tp=2": "tp=2", "dp=2": "dp=2"},
}


def parse():
    parser = argparse.ArgumentParser(prog="bench/variants.py", description=__doc__)
    parser.add_argument("what", choices=sorted(VARIANTS))
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/bin", help="folder of the built programs")
    parser.add_argument("--model", type=pathlib.Path, default=HERE / "configs/gpt2-124m/config.json")
    parser.add_argument("--size", default="4x256", help="batch x sequence")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--mesh", default="dp=1")
    parser.add_argument("--micro-batches", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--report-only", action="store_true", help="memory and flops, no run")
    return parser.parse_args()


def arguments(options, variant):
    batch, sequence = options.size.split("x")
    flags = VARIANTS[options.what][variant]
    plan = [("--mesh", options.mesh), ("--micro-batches", options.micro_batches)]
    given = [word for flag, value in plan if flag not in flags for word in (flag, value)]
    return [options.model, "--batch", batch, "--seq-length", sequence, "--precision", options.precision, *given, *flags]


def report(options, variant):
    command = [options.bin / "tessera", "report", *arguments(options, variant), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def worker(options, variant, folder):
    path = pathlib.Path(folder) / f"{variant}.tsr"
    subprocess.run([options.bin / "tessera", "compile", *arguments(options, variant), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    return Worker([options.bin / "bench-steps", path, options.threads])


def main():
    options = parse()
    variants = list(VARIANTS[options.what])
    reports = {variant: report(options, variant) for variant in variants}
    times = {}
    if not options.report_only:
        with tempfile.TemporaryDirectory() as folder:
            workers = {variant: worker(options, variant, folder) for variant in variants}
            times = in_turns(workers, options.rounds, options.steps)
    print(f"{options.model.parent.name}, {options.size}, {options.precision}, {options.mesh}, "
          f"{options.micro_batches} micro-batches")
    print("| variant | bytes of a rank | of these activations | flops of a rank | again, % | step, s | in processor time |")
    print("|---|---|---|---|---|---|---|")
    for variant in variants:
        r = reports[variant]
        memory, again = r["memory"], r["recompute"]["flops_of_rank"]
        time = ["", ""]
        if times:
            base, own = times[BASES.get(options.what, {}).get(variant, variants[0])], times[variant]
            processor = statistics.median(own["processor_seconds"]) / statistics.median(base["processor_seconds"])
            time = [f"{own['median']:.3f} / {own['min']:.3f}", f"{processor:.3f}"]
        print(f"| {variant} | {memory['bytes']} | {memory['by_kind']['activations']} | {r['flops_of_rank']:.0f} | "
              f"{100 * again / r['flops_of_rank']:.1f} | {time[0]} | {time[1]} |")


if __name__ == "__main__":
    main()
