#!/usr/bin/env python3
"""Searches plans for published runs and compares them with the published plans, both simulated: tessera plan.

usage: plans.py [--source NAME] [--run LABEL] [--tessera PROGRAM] [--evaluations N] [--threads N]

Prints the simulated step of the published plan, that of the best plan found on the same devices with the same batch,
their memory, and the seconds that the search took. `--run 175B/1024` times the search of a model of 175B on 1024 GPUs
alone.
"""
import argparse
import itertools
import json
import os
import subprocess
import tempfile
import time

import published

SOURCES = ("narayanan-1", "korthikanti-5")
LARGE = "175B/1024"


def value(flags, name):
    return flags[flags.index(name) + 1]


def devices(mesh):
    count = 1
    for axis in mesh.split(","):
        count *= int(axis.split("=")[1])
    return count


def search(tessera, config, cluster, gpus, batch, options):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config, file)
        command = [tessera, "plan", folder, "--cluster", f"{published.ROOT}/clusters/{cluster}.toml", "--json",
                   "--gpus", str(gpus), "--global-batch", str(batch)] + options
        start = time.monotonic()
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
    if result.returncode:
        raise SystemExit(f"plans: {' '.join(command)}: {result.stderr}")
    return json.loads(result.stdout), seconds


def short(text):
    """Writes 1,1,1,2 as 3x1,1x2: lists of many stages have few values."""
    if text.count(",") < 8:
        return text
    return ",".join(f"{len(list(group))}x{size}" for size, group in itertools.groupby(text.split(",")))


def row(label, theirs, found, seconds):
    best = found["plans"][0]
    if theirs:
        fits = "" if theirs["fits"] else " (does not fit)"
        old = f"{theirs['step_seconds']:.3f} | {theirs['memory_bytes'] / 2 ** 30:.1f}{fits}"
        gain = f"{100 * (best['step_seconds'] / theirs['step_seconds'] - 1):+.1f} %"
    else:
        old, gain = " | ", ""
    chosen = " ".join(f"{name}={short(text)}" for name, text in sorted(best["options"].items())
                      if name not in ("batch", "device", "precision", "gemm-epilogues"))
    print(f"| {label} | {old} | {best['step_seconds']:.3f} | {best['memory_bytes'] / 2 ** 30:.1f} | {gain} | "
          f"{seconds:.0f} | {chosen} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", choices=SOURCES, help="default: both")
    parser.add_argument("--run", help="only the rows with this label")
    parser.add_argument("--evaluations", default="60")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--tessera", default=f"{published.ROOT}/build/bin/tessera")
    options = parser.parse_args()
    limits = ["--evaluations", options.evaluations, "--threads", options.threads]
    print("| run | published: step, s | GiB | found: step, s | GiB | change | search, s | plan |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for source in [options.source] if options.source else SOURCES:
        for run in published.SOURCES[source]():
            if options.run and options.run != run.label:
                continue
            theirs = run.simulate(options.tessera)
            found, seconds = search(options.tessera, run.config, run.cluster, devices(value(run.flags, "--mesh")),
                                    value(run.flags, "--batch"), limits + ["--device", "cuda", published.NO_EPILOGUES])
            row(run.label, theirs, found, seconds)
    if options.run in (None, LARGE) and not options.source:
        shape = {"hidden": 12288, "layers": 96, "heads": 96}
        found, seconds = search(options.tessera, published.gpt(shape, 2048), "selene", 1024, 1536, limits)
        row(LARGE, None, found, seconds)


if __name__ == "__main__":
    main()
