#!/usr/bin/env python3
"""Compares the memory plans of published runs with what was published of Megatron-LM's memory: tessera report.

usage: memory.py [--tessera PROGRAM]

Prints GiB of a GPU of the first stage: what parameters need (weights, their copies in bf16, gradients and the state of
the optimizer), and what micro-batches in flight keep for backward, with tensor parallelism alone and with sequence
parallelism and selective recomputation. The published ones are read off figures 1 and 7 of arXiv:2205.05198.
"""
import argparse
import json
import os
import subprocess
import tempfile

import published

KINDS = {"parameters": ("weights", "weight copies", "gradients", "optimizer"), "activations": ("activations",)}
PRESENT = ("--recompute", "selective", "--sequence-parallel")


def report(tessera, run, flags):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(run.config, file)
        command = [tessera, "report", folder, "--device", "cuda", "--precision", "bf16", "--json"] + flags
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"memory: {' '.join(command)}: {result.stderr}")
    kinds = json.loads(result.stdout)["memory"]["by_kind"]
    return {name: sum(kinds.get(kind, 0) for kind in parts) / 2 ** 30 for name, parts in KINDS.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=f"{published.ROOT}/build/bin/tessera")
    tessera = parser.parse_args().tessera
    figures = {row["model"]: row for row in published.table("korthikanti2022_fig1_fig7_memory")}
    print("| run | published, GiB | plan, GiB | change |")
    print("|---|---:|---:|---:|")
    for run in published.korthikanti_table5():
        model, kind = run.label.split()
        if kind != "present":
            continue
        present = report(tessera, run, run.flags)
        alone = report(tessera, run, [flag for flag in run.flags if flag not in PRESENT])
        for what, column, plan in (("parameters", "par_opt_gib", present["parameters"]),
                                   ("activations, `tp` alone", "act_none_gib", alone["activations"]),
                                   ("activations, present", "act_seqsel_gib", present["activations"])):
            number = float(figures[model][column])
            print(f"| {model} {what} | {number:.1f} | {plan:.1f} | {100 * (plan / number - 1):+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
