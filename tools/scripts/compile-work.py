#!/usr/bin/env python3
"""Counts the instructions that compiling takes for a model of n, 2n and 4n layers, and names functions that grow faster.

The instructions of a function count with those it calls. From 2n to 4n layers they grow twice as much as from n to 2n
if the work is proportional to the layers, 2.3 times as much for n log n, and 4 times for a square. Counting takes
valgrind; without it the script says so and exits with 77.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
OPTIONS = ("--mesh pp=2,dp=2,tp=2 --zero 3 --sequence-parallel --recompute selective "
           "--batch 16 --micro-batches 8").split()


def count(tessera, layers, folder):
    """Returns {function: instructions, with what it calls} of a report on GPT-2 tiny with so many layers."""
    model = os.path.join(folder, f"layers-{layers}")
    os.makedirs(model)
    with open(os.path.join(ROOT, "examples/gpt2-tiny/config.json")) as file:
        config = json.load(file)
    config["n_layer"] = layers
    with open(os.path.join(model, "config.json"), "w") as file:
        json.dump(config, file)
    profile = os.path.join(folder, f"profile-{layers}")
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}",
                    tessera, "report", model, *OPTIONS], check=True, stdout=subprocess.DEVNULL)
    lines = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", profile],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    counts = {}
    for line in lines:
        match = re.match(r"\s*([\d,]+)\s+(?:\S*?:)?(.*?)(?: \[.*\])?$", line)
        if match:
            counts[match[2]] = counts.get(match[2], 0) + int(match[1].replace(",", ""))
    return counts


def growth(small, medium, large, least):
    """Returns rows (ratio of growths, growth, function) of the functions that grow by `least` or more, the fastest
    first."""
    rows = []
    for function, most in large.items():
        first = medium.get(function, 0) - small.get(function, 0)
        second = most - medium.get(function, 0)
        if second >= least:
            rows.append((second / first if first > 0 else float("inf"), second, function))
    return sorted(rows, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=os.path.join(ROOT, "build/bin/tessera"),
                        help="the program (default: %(default)s)")
    parser.add_argument("--layers", type=int, default=8, help="n (default: %(default)s)")
    parser.add_argument("--bound", type=float, default=3.3, help="largest ratio of growths (default: %(default)s)")
    parser.add_argument("--share", type=float, default=0.01,
                        help="of the whole growth; what grows by less is not judged (default: %(default)s)")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("compile-work: skipped, there is no valgrind; run as root: apt-get install valgrind")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        counts = [count(arguments.tessera, factor * arguments.layers, folder) for factor in (1, 2, 4)]
    totals = [each["PROGRAM TOTALS"] for each in counts]
    rows = growth(*counts, least=arguments.share * (totals[2] - totals[1]))
    for factor, total in zip((1, 2, 4), totals):
        print(f"{factor * arguments.layers:4} layers: {total:,} instructions")
    print("grow fastest:")
    for ratio, instructions, function in rows[:8]:
        print(f"  {ratio:6.2f} {instructions:15,} {function[:100]}")
    wrong = [row for row in rows if row[0] > arguments.bound]
    for ratio, _, function in wrong:
        print(f"compile-work: {function} grows {ratio:.2f} times as much from 2n to 4n layers as from n to 2n; "
              f"at most {arguments.bound:g} is allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
