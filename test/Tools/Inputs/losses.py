"""losses.py A.jsonl I J B.jsonl K L: whether the losses of steps I and J in one log are those of steps K and L in another, bit for bit."""
import json
import sys


def losses(path, steps):
    lines = [json.loads(line) for line in open(path)]
    return [line["loss"] for step in steps for line in lines if line.get("step") == step and "loss" in line]


first = losses(sys.argv[1], map(int, sys.argv[2:4]))
second = losses(sys.argv[4], map(int, sys.argv[5:7]))
assert len(first) == 2 and first == second and first[0] != first[1], (first, second)
