#!/usr/bin/env python3
"""Compares the steps that bench/gpu/run.py measured with simulated ones: the table "One H100" of docs/Predictions.md.

usage: predictions.py [--results FILE] [--cluster FILE] [--tessera PROGRAM] [--products]

Needs no GPU. Each size of GPT-2 in the results is compiled as it was measured, and `tessera simulate` predicts its step
on the cluster. --products also compares every product that the results list with its simulated calls.
"""
import argparse
import json
import math
import pathlib
import struct
import subprocess
import tempfile

import op_times

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEQUENCE = 1024
ON_MEASURED = "350m"  # clusters/h100.toml has two rates of its step
HEADER = struct.Struct("<8sIIQ")  # runtime/include/tessera/abi.h: magic, version, header size, metadata size


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def ops_of(artifact):
    """Reads the ops of an artifact's metadata, docs/Artifact.md."""
    text = artifact.read_bytes()
    _, _, header, size = HEADER.unpack_from(text)
    return json.loads(text[header:header + size])["ops"]


def simulated(options, model, batch, folder):
    """Returns the seconds of a step, and microseconds of a call by group."""
    artifact, trace = folder / f"{model}-{batch}.tsr", folder / "trace.json"
    run(options.tessera, "compile", ROOT / f"bench/configs/gpt2-{model}/config.json", "--batch", batch, "--seq-length",
        SEQUENCE, "--precision", "bf16", "--device", "cuda:sm_90", "--no-evaluation", "-o", artifact)
    out = run(options.tessera, "simulate", artifact, "--cluster", options.cluster, "--trace", trace, "--json")
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X" and e["tid"] == 0]
    rows = op_times.summarize(ops_of(artifact), events, None, None)["ops"]
    return json.loads(out)["step_seconds"], {row["what"]: row["microseconds"] / row["calls"] for row in rows}


def batch_of(measured):
    return round(measured["tokens_per_second"] * measured["seconds_per_step"] / SEQUENCE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results/2026-11-26-nvidia-h100.json")
    parser.add_argument("--cluster", type=pathlib.Path, default=ROOT / "clusters/h100.toml")
    parser.add_argument("--tessera", type=pathlib.Path, default=ROOT / "build/bin/tessera")
    parser.add_argument("--products", action="store_true")
    options = parser.parse_args()
    models = json.loads(options.results.read_text())["models"]
    errors, products = [], []
    print("| model | measured, ms | predicted, ms | error |  |\n|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for model in sorted(models, key=lambda name: float(name.rstrip("m"))):
            for variant in ("tessera", "tessera batch16"):
                if variant not in models[model]:
                    continue
                measured, batch = models[model][variant]["seconds_per_step"], batch_of(models[model][variant])
                step, calls = simulated(options, model, batch, pathlib.Path(folder))
                error = step / measured - 1
                is_fitted = model == ON_MEASURED
                errors += [] if is_fitted else [abs(error)]
                print(f"| {model.upper()}, {batch} x {SEQUENCE} | {1e3 * measured:.1f} | {1e3 * step:.1f} "
                      f"| {100 * error:+.1f} % | {'f' if is_fitted else ''} |", flush=True)
                if variant == "tessera":
                    products += [(model, row["what"], row["microseconds"] / row["calls"], calls[row["what"]])
                                 for row in models[model]["ops"]["ops"] if row["what"].startswith("gemm ")]
    if errors:
        print(f"Predicted: mean {100 * sum(errors) / len(errors):.1f} %, worst {100 * max(errors):.1f} % "
              f"of {len(errors)} rows")
    if options.products:
        print("\n| product | measured, us | predicted, us | error |\n|---|---:|---:|---:|")
        for model, what, measured, predicted in products:
            print(f"| {model} `{what}` | {measured:.1f} | {predicted:.1f} | {100 * (predicted / measured - 1):+.1f} % |")
    if products:
        logs = [math.log(predicted / measured) ** 2 for _, _, measured, predicted in products]
        print(f"{len(logs)} products: root mean square of the errors {100 * math.sqrt(sum(logs) / len(logs)):.1f} %")


if __name__ == "__main__":
    main()
