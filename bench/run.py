"""Measures Tessera, its floor and its peers in turns; called by run.sh. README.md says what the numbers mean."""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import plot
import table
from workers import Failed, Worker, in_turns, repeated_command

HERE = pathlib.Path(__file__).resolve().parent
ADAMW_BYTES = 28  # bytes per parameter: weight, gradient and two moments read, all but the gradient written, 4 bytes each


def parse():
    parser = argparse.ArgumentParser(prog="bench/run.sh", description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the built programs")
    parser.add_argument("--model", type=pathlib.Path, default=HERE / "configs/gpt2-124m/config.json")
    parser.add_argument("--large", type=pathlib.Path, default=HERE / "configs/gpt3-175b/config.json",
                        help="model that is only compiled")
    parser.add_argument("--large-mesh", default="tp=8")
    parser.add_argument("--note", help="said of the run in its result, e.g. who shared the machine")
    parser.add_argument("--sizes", nargs="+", default=["4x64", "4x256", "1x1024"], help="batch x sequence")
    parser.add_argument("--precisions", nargs="+", default=["f32", "bf16"], choices=["f32", "bf16"])
    parser.add_argument("--meshes", nargs="*", default=["tp=2", "dp=2"])
    parser.add_argument("--mesh-size", default="4x256", help="batch x sequence of the meshes")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each program")
    parser.add_argument("--steps", type=int, default=3, help="steps of a turn, after one to warm up")
    parser.add_argument("--compile-runs", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results", help="folder of the results")
    return parser.parse_args()


def output_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine(options):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", cpuinfo)
    family = re.search(r"cpu family\s*: (.*)\nmodel\s*: (.*)", cpuinfo)
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "cpu": model.group(1) if model else "unknown",
            "cpu_family_model": "/".join(family.groups()) if family else "",
            "cores": os.cpu_count(), "threads": options.threads, "kernel": os.uname().release,
            "load_before": os.getloadavg(), "note": options.note,
            "versions": {"tessera": output_of([options.bin / "tessera", "--version"]),
                         "commit": output_of(["git", "-C", HERE, "rev-parse", "--short", "HEAD"]),
                         "compiler": output_of(["g++", "-dumpfullversion"]),
                         "onednn": output_of(["dpkg-query", "-W", "-f=${Version}", "libdnnl2"])}}


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.config = json.loads(options.model.read_text())

    def compile_command(self, size, precision="f32", mesh=None, model=None):
        batch, sequence = size.split("x")
        command = [self.options.bin / "tessera", "compile", model or self.options.model, "--batch", batch,
                   "--seq-length", sequence, "--precision", precision, "-o", self.folder / "model.tsr"]
        return command + (["--mesh", mesh] if mesh else [])

    def steps(self, size, precision="f32", mesh=None):
        repeated_command(self.compile_command(size, precision, mesh), 1)
        return Worker([self.options.bin / "bench-steps", self.folder / "model.tsr", self.options.threads])

    def floor(self, size, precision):
        c, (batch, sequence) = self.config, map(int, size.split("x"))
        inner = c.get("n_inner") or 4 * c["n_embd"]
        return Worker([self.options.bin / "bench-floor", c["n_layer"], c["n_embd"], inner, c["vocab_size"],
                       batch * sequence, precision, self.options.threads])

    def pytorch(self, size, precision):
        return Worker([sys.executable, HERE / "peers/pytorch_gpt2.py", self.options.model, *size.split("x"), precision,
                       self.options.threads])

    def start(self, name, make, workers, notes):
        try:
            workers[name] = make()
        except Failed as failure:
            notes[name] = re.sub(r"^\S*: (\d+:\d+: )?(error: )?", "", str(failure))

    def row(self, size, precision):
        """Measures one size in one precision: step, floor and peers in turns."""
        workers, row = {}, {"size": size, "precision": precision, "notes": {}}
        self.start("tessera", lambda: self.steps(size, precision), workers, row["notes"])
        self.start("floor", lambda: self.floor(size, precision), workers, row["notes"])
        if self.has_torch():
            self.start("pytorch", lambda: self.pytorch(size, precision), workers, row["notes"])
        elif not self.options.no_peers:
            row["notes"]["pytorch"] = "not installed"
        row["details"] = {name: worker.ready for name, worker in workers.items() if name != "tessera"}
        if "tessera" in workers:
            row["arena_bytes"] = workers["tessera"].ready["arena"]["bytes"]
        row.update(in_turns(workers, self.options.rounds, self.options.steps))
        if "floor" in workers:
            rate = workers["floor"].ready["copy_bytes_per_second"]
            row["adamw_seconds"] = ADAMW_BYTES * self.parameters() / rate
        row["load_after"] = os.getloadavg()[0]
        return row

    def has_torch(self):
        return not self.options.no_peers and output_of([sys.executable, "-c", "import torch; print(1)"]) == "1"

    def parameters(self):
        c = self.config
        h, inner = c["n_embd"], c.get("n_inner") or 4 * c["n_embd"]
        layer = 4 * h * h + 2 * h * inner + 9 * h + inner
        return c["n_layer"] * layer + (c["vocab_size"] + c["n_positions"] + 2) * h

    def meshes(self, size):
        """Measures the same global batch on thread ranks that share the threads, beside the serial program."""
        workers, notes = {}, {}
        for mesh in [None, *self.options.meshes]:
            self.start(mesh or "serial", lambda: self.steps(size, mesh=mesh), workers, notes)
        arenas = {name: worker.ready["arena"]["bytes"] for name, worker in workers.items()}
        results = in_turns(workers, self.options.rounds, self.options.steps)
        return {"size": size, "notes": notes, "arena_bytes_of_rank": arenas, **results,
                "load_after": os.getloadavg()[0]}

    def compile_times(self):
        large = [self.options.large, "--mesh", self.options.large_mesh, "--batch", "1"]
        tessera, runs = self.options.bin / "tessera", self.options.compile_runs
        commands = {f"compile {self.options.model.parent.name}": self.compile_command(self.options.sizes[0]),
                    f"compile large, {self.options.large_mesh}": [tessera, "compile", *large, "-o", self.folder / "large.tsr"],
                    f"report large, {self.options.large_mesh}": [tessera, "report", *large]}
        results = {}
        for name, command in commands.items():
            try:
                results[name] = repeated_command(command, runs)
            except Failed as failure:
                results[name] = {"failed": str(failure)}
        return results


def main():
    options = parse()
    results = {"machine": machine(options), "model": options.model.parent.name, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for precision in options.precisions:
            for size in options.sizes:
                print(f"measuring {size} {precision}", file=sys.stderr)
                results["rows"].append(bench.row(size, precision))
                write(options, results)
        if options.meshes:
            print("measuring meshes", file=sys.stderr)
            results["meshes"] = bench.meshes(options.mesh_size)
            write(options, results)
        if options.compile_runs:
            print("measuring the compiler", file=sys.stderr)
            results["compile"] = bench.compile_times()
            write(options, results)
    print(table.render(results))
    path = write(options, results)
    print(f"wrote {path} and {path.with_suffix('.svg').name}", file=sys.stderr)


def write(options, results):
    """Writes results after every part, so that an interrupted run leaves what it measured."""
    results["machine"]["load_after"] = os.getloadavg()
    options.output.mkdir(parents=True, exist_ok=True)
    cpu = re.sub(r"[^a-z0-9]+", "-", results["machine"]["cpu"].lower().replace("(r)", "")).strip("-")
    path = options.output / f"{results['machine']['date'][:10]}-{cpu}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    path.with_suffix(".svg").write_text(plot.draw(results))
    return path


if __name__ == "__main__":
    main()
