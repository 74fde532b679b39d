"""Says whether an artifact that trains and generates needs the memory of both."""

import json
import sys

train, generate, both = (
    json.load(open(f"{sys.argv[1]}/{name}.json"))["memory"]
    for name in ("train", "generate", "both"))
kinds = [memory["by_kind"] for memory in (train, generate, both)]
assert kinds[2]["weights"] == kinds[0]["weights"], kinds
assert kinds[2]["optimizer"] == kinds[0]["optimizer"], kinds
assert kinds[2]["caches"] == kinds[1]["caches"], kinds
rows = kinds[2]["inputs"] - kinds[0]["inputs"]
assert 0 < rows <= kinds[1]["inputs"], kinds
assert generate["bytes"] < train["bytes"], "the step needs more"
assert both["bytes"] == train["bytes"] + kinds[1]["caches"] + rows, (train, both)
print("the arena is training's, caches and rows")
