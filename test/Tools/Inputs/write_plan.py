"""Writes a plan of a model with some options, as docs/Planning.md says: write_plan.py MODEL OPTIONS"""
import hashlib
import json
import sys


def compact(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{compact(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return f"{value:.17g}" if isinstance(value, float) else json.dumps(value)


model, options = sys.argv[1:]
with open(model + "/config.json") as file:
    config = json.load(file)
fingerprint = hashlib.sha256(compact(config).encode()).hexdigest()[:16]
print(json.dumps({"tessera_plan": 1, "model": {"type": config["model_type"], "fingerprint": fingerprint},
                  "options": json.loads(options)}))
