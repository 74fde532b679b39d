"""Checks that a search chose what some layers recompute, and that this is the least: check_layers.py FOUND WHOLE LAYERS
MODE

FOUND is what `tessera plan --json` printed, for a mesh and limit into which no plan fits whose layers recompute alike and
as little as the rest of the best one; WHOLE the same for layers that all recompute as those of LAYERS, which are as
--layer-recompute has them.
"""
import json
import sys

found, whole = (json.load(open(path)) for path in sys.argv[1:3])
layers, mode = sys.argv[3:]
best, limit = found["plans"][0], found["memory_limit_bytes"]
assert best["options"].get("layer-recompute") == layers and best["options"]["recompute"] == mode, best["options"]
assert best["fits"] and best["memory_bytes"] <= limit, best
alike = {p["options"]["recompute"]: p for p in found["plans"]
         if "layer-recompute" not in p["options"] and "stages" not in p["options"]}
assert not alike[mode]["fits"] and alike[mode]["step_seconds"] < best["step_seconds"], alike[mode]
assert whole["plans"][0]["fits"] and whole["plans"][0]["step_seconds"] > best["step_seconds"], whole["plans"][0]
assert all(p["step_seconds"] >= best["step_seconds"] for p in found["plans"] if p["fits"]), found["plans"]
