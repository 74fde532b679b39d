"""Checks that a plan predicts what `tessera simulate --json` does: same_prediction.py PLAN SIMULATED"""
import json
import sys

with open(sys.argv[1]) as file:
    predicted = json.load(file)["predicted"]
with open(sys.argv[2]) as file:
    simulated = json.load(file)
for key in ("step_seconds", "memory_bytes"):
    assert predicted[key] == simulated[key], (key, predicted, simulated)
