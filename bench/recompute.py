"""Memory and time of a step with --recompute none, selective and full, in turns. README.md says what the numbers mean."""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from workers import Worker, in_turns

HERE = pathlib.Path(__file__).resolve().parent
MODES = ["none", "selective", "full"]


def parse():
    parser = argparse.ArgumentParser(prog="bench/recompute.py", description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/bin", help="folder of the built programs")
    parser.add_argument("--model", type=pathlib.Path, default=HERE / "configs/gpt2-124m/config.json")
    parser.add_argument("--size", default="4x256", help="batch x sequence")
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--mesh", default="dp=1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--report-only", action="store_true", help="memory and flops, no run")
    return parser.parse_args()


def arguments(options, mode):
    batch, sequence = options.size.split("x")
    return [options.model, "--batch", batch, "--seq-length", sequence, "--precision", options.precision, "--mesh",
            options.mesh, "--recompute", mode]


def report(options, mode):
    command = [options.bin / "tessera", "report", *arguments(options, mode), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def worker(options, mode, folder):
    path = pathlib.Path(folder) / f"{mode}.tsr"
    subprocess.run([options.bin / "tessera", "compile", *arguments(options, mode), "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    return Worker([options.bin / "bench-steps", path, options.threads])


def main():
    options = parse()
    reports = {mode: report(options, mode) for mode in MODES}
    times = {}
    if not options.report_only:
        with tempfile.TemporaryDirectory() as folder:
            workers = {mode: worker(options, mode, folder) for mode in MODES}
            times = in_turns(workers, options.rounds, options.steps)
    print(f"{options.model.parent.name}, {options.size}, {options.precision}, {options.mesh}")
    print("| mode | bytes of a rank | of these activations | flops of a rank | again, % | step, s | in processor time |")
    print("|---|---|---|---|---|---|---|")
    for mode in MODES:
        r = reports[mode]
        memory, again = r["memory"], r["recompute"]["flops_of_rank"]
        time = ["", ""]
        if times:
            base, own = times["none"], times[mode]
            processor = statistics.median(own["processor_seconds"]) / statistics.median(base["processor_seconds"])
            time = [f"{own['median']:.3f} / {own['min']:.3f}", f"{processor:.3f}"]
        print(f"| {mode} | {memory['bytes']} | {memory['by_kind']['activations']} | {r['flops_of_rank']:.0f} | "
              f"{100 * again / r['flops_of_rank']:.1f} | {time[0]} | {time[1]} |")


if __name__ == "__main__":
    main()
