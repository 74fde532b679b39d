"""Gives plans of a model to --plan and to --explain, which must refuse the same: same_refusals.py MODEL CLUSTER

Prints the error of --explain, or "accepted".
"""
import json
import os
import subprocess
import sys

model, cluster = sys.argv[1:]
REPORT = ["report", model]
TRAIN = ["train", model, "--data", "none"]
PLANS = (
    (REPORT, {"mesh": "dp=2", "virtual-stages": "1"}),
    (REPORT, {"mesh": "tp=2", "zero": "1"}),
    (REPORT, {"mesh": "dp=2", "lr": "0.01", "min-lr": "0.1"}),
    (TRAIN, {"programs": "generate"}),
    (REPORT, {"mesh": "dp=2", "zeor": "1"}),
    (REPORT, {"mesh": "dp=2", "batch": "4"}),
    (REPORT, {"tensor-model-parallel-size": "2", "pipeline-model-parallel-size": "2", "virtual-stages": "2",
              "batch": "8", "micro-batches": "2"}),
)


def write_plan(path, options):
    writer = os.path.join(os.path.dirname(__file__), "write_plan.py")
    with open(path, "wb") as file:
        subprocess.run([sys.executable, writer, model, json.dumps(options)], check=True, stdout=file)


def error_of(*words):
    result = subprocess.run(["tessera", *words], capture_output=True, text=True, check=False)
    assert result.returncode == (1 if result.stderr.startswith("error: ") else 0), result
    return result.stderr.split("\n")[0] if result.returncode else "accepted"


write_plan("first.json", {"mesh": "dp=2", "batch": "8"})
for command, options in PLANS:
    write_plan("other.json", options)
    batch = ["8"] if "batch" in options else []
    asked = error_of(*command, "--plan", "other.json", *["--batch"] * len(batch), *batch)
    explained = error_of("plan", model, "--cluster", cluster, "--explain", "first.json", "other.json",
                         *["--global-batch"] * len(batch), *batch)
    assert explained.replace("'other.json': ", "") == asked.replace("'other.json': ", ""), (asked, explained)
    print(explained)
