"""Prompts and new tokens of Tessera, llama.cpp and PyTorch, measured in turns. README.md says what the numbers mean.

    python3 bench/generate.py [--models CONFIG] [--batches 1 8]
    python3 bench/generate.py --joining 8 --chunk 64

Needs torch, transformers and safetensors, which make the weights; llama.cpp is measured if llama_cpp and gguf can be imported.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from workers import Failed, Worker, timed_command

HERE = pathlib.Path(__file__).resolve().parent
# Options of the compiler for each type, and bytes of an element: of matrices, of other weights, of caches, and of a
# channel beside it.
TYPES = {"f32": (["--precision", "f32"], 4, 4, 4, 0), "bf16": (["--precision", "bf16"], 2, 2, 2, 0),
         "int8": (["--precision", "bf16", "--weights", "int8"], 1, 4, 2, 4)}
PROBED = 1 << 29  # bytes that the probe reads: more than any cache


def parse():
    parser = argparse.ArgumentParser(prog="bench/generate.py", description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/bin", help="folder of the built programs")
    parser.add_argument("--models", type=pathlib.Path, nargs="+", help="config.json of GPT-2 or LLaMA",
                        default=[HERE / f"configs/{name}/config.json" for name in ("gpt2-124m", "llama-125m")])
    parser.add_argument("--precisions", nargs="+", default=["f32"], choices=sorted(TYPES))
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8], help="requests at a time")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--new", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program, after one to warm up")
    parser.add_argument("--peers", nargs="*", default=["llama.cpp", "pytorch"], choices=["llama.cpp", "pytorch"])
    parser.add_argument("--chunk", type=int, help="tokens of prompts in a step, those of a prompt unless given")
    parser.add_argument("--joining", type=int, metavar="N", help="measure N requests that come one after the other")
    parser.add_argument("--json", type=pathlib.Path, help="file for all times")
    return parser.parse_args()


class Generation(Worker):
    """A worker whose repetitions have a time of prompts and one of a token."""

    def __init__(self, command):
        super().__init__(command)
        self.prefill, self.decode, self.tokens = [], [], []

    def ask(self, count, keep=True):
        self._send(count)
        answer = self._read()
        self.tokens = answer["tokens"]
        if keep:
            self.prefill += answer["prefill"]
            self.decode += answer["decode"]
            self.vmhwm = answer["vmhwm"]


def can_import(*names):
    return subprocess.run([sys.executable, "-c", "import " + ", ".join(names)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def compile_model(options, path, folder, precision, batch, length):
    """Returns the bytes of the memory plan."""
    artifact = folder / "model.tsr"
    timed_command([options.bin / "tessera", "compile", path, "--programs", "generate", *TYPES[precision][0], "--max-batch",
                   batch, "--max-length", length, "--prefill-chunk", options.chunk or options.prompt, "-o", artifact])
    report = subprocess.run([options.bin / "tessera", "report", artifact, "--json"], check=True, capture_output=True).stdout
    return json.loads(report)["memory"]["bytes"]


def commands(options, path, folder, precision, batch):
    """Counts the bytes of each measured program: those that a step reads, and those of the memory plan. Compiles and
    converts what the programs need."""
    with_llama = "llama.cpp" in options.peers and can_import("llama_cpp", "gguf")
    gguf = [folder / "model.gguf"] if with_llama else []
    counted = subprocess.run([sys.executable, HERE / "peers/random_model.py", path, folder, precision, *gguf],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    counts = json.loads(counted.splitlines()[-1])
    sizes = [str(n) for n in (options.threads, batch, options.prompt, options.new)]
    _, of_matrix, of_vector, of_cache, of_channel = TYPES[precision]
    plan = compile_model(options, path, folder, precision, batch, options.prompt + options.new)
    made = {"tessera": [options.bin / "bench-generate", folder / "model.tsr", folder, *sizes]}
    if with_llama:
        made["llama.cpp"] = [sys.executable, HERE / "peers/generation.py", "llama.cpp", folder / "model.gguf", *sizes]
    if "pytorch" in options.peers and precision != "int8":
        made["pytorch"] = [sys.executable, HERE / "peers/generation.py", "pytorch", folder, *sizes]
    position = options.prompt + options.new // 2
    weights = (of_matrix * counts["of_matrices"] + of_channel * counts["channels"]
               + of_vector * (counts["weights_of_token"] - counts["of_matrices"]))
    return made, weights + batch * position * of_cache * counts["cache_of_position"], plan


def measure(options, path, precision, batch):
    """Measures all programs in turns, each turn beside a probe of the bandwidth."""
    with tempfile.TemporaryDirectory() as folder:
        made, step_bytes, plan = commands(options, path, pathlib.Path(folder), precision, batch)
        workers = {name: Generation(command) for name, command in made.items()}
        probe = Worker([options.bin / "bench-bandwidth", options.threads, PROBED])
        limits = {name: [] for name in workers}
        for turn in range(options.rounds + 1):
            for name, worker in workers.items():
                probe.seconds.clear()
                probe.ask(2)
                worker.ask(1, keep=turn > 0)
                probe.ask(2)
                if turn > 0:
                    limits[name].append(statistics.median(probe.seconds) * step_bytes / PROBED)
        for worker in (*workers.values(), probe):
            worker.close()
    return {"model": path.parent.name, "precision": precision, "batch": batch, "bytes_of_step": step_bytes,
            "bytes_of_plan": plan,
            "load": os.getloadavg(),
            "programs": {name: {"version": worker.ready.get("version"), "prefill": worker.prefill, "decode": worker.decode,
                                "limit": limits[name], "tokens": worker.tokens, "vmhwm": worker.vmhwm}
                         for name, worker in workers.items()}}


class Joining(Worker):
    """A worker whose repetitions have times by the number of requests that run."""

    TIMES = ("first", "joining", "running")

    def ask(self, count, keep=True):
        self._send(count)
        answers = [self._read() for _ in range(count)]
        if keep:
            self.times = {key: [statistics.median(values) for values in zip(*(answer[key] for answer in answers))]
                          for key in self.TIMES}


def measure_joining(options, path, precision):
    """Measures requests that come while others run, on one program."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sys.executable, HERE / "peers/random_model.py", path, folder, precision], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        steps = -(-options.prompt // (options.chunk or options.prompt)) + options.new
        compile_model(options, path, folder, precision, options.joining, options.prompt + options.joining * (steps + 1))
        worker = Joining([options.bin / "bench-generate", folder / "model.tsr", folder, options.threads, options.joining,
                          options.prompt, options.new, "joining"])
        worker.ask(1, keep=False)
        worker.ask(options.rounds)
        worker.close()
    return {"model": path.parent.name, "precision": precision, **worker.times}


def show_joining(options):
    print("| model | precision | running | time to first token, s | longest step meanwhile, ms | step after, ms | "
          "tokens/s of a request after |")
    print("|---|---|---|---|---|---|---|")
    rows = [measure_joining(options, path, precision) for path in options.models for precision in options.precisions]
    for row in rows:
        for running, (first, joining, after) in enumerate(zip(*(row[key] for key in Joining.TIMES))):
            print(f"| {row['model']} | {row['precision']} | {running} | {first:.2f} | {1e3 * joining:.0f} | "
                  f"{1e3 * after:.1f} | {1 / after:.1f} |")
    return rows


def alike(ours, theirs):
    """Returns the new tokens before the first that differs."""
    return next((k for k, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))


def show(options, row):
    own = row["programs"]["tessera"]
    for name, found in row["programs"].items():
        prefill, decode = statistics.median(found["prefill"]), statistics.median(found["decode"])
        share = statistics.median(limit / time for limit, time in zip(found["limit"], found["decode"]))
        bandwidth = row["bytes_of_step"] / statistics.median(found["limit"]) / 1e9
        ahead = [statistics.median(b / a for a, b in zip(own[what], found[what])) for what in ("prefill", "decode")]
        print(f"| {row['model']} | {row['precision']} | {row['batch']} | {name} | {row['batch'] * options.prompt / prefill:.0f} | "
              f"{ahead[0]:.2f} | {row['batch'] / decode:.1f} | {ahead[1]:.2f} | {bandwidth:.1f} | {share:.2f} | "
              f"{alike(own['tokens'], found['tokens'])} | {found['vmhwm'] >> 20} | "
              f"{row['bytes_of_plan'] >> 20 if name == 'tessera' else ''} |", flush=True)


def show_all(options):
    rows = []
    print("| model | precision | requests | program | prompt tokens/s | Tessera is faster | new tokens/s | Tessera is faster | "
          "bandwidth, GB/s | share of it | same tokens | process, MiB | plan, MiB |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for path in options.models:
        for precision in options.precisions:
            for batch in options.batches:
                try:
                    rows.append(measure(options, path, precision, batch))
                except Failed as failure:
                    print(f"{path.parent.name}, {precision}, {batch} requests: {failure}", file=sys.stderr)
                    continue
                show(options, rows[-1])
    return rows


def main():
    options = parse()
    rows = show_joining(options) if options.joining else show_all(options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
