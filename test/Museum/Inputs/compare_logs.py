"""Losses and gradient norms of two training logs must be equal up to rounding in f32. Usage: compare_logs.py LOG LOG"""
import json
import sys

first, second = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
assert len(first) == len(second) > 0, "the logs differ in length"
for a, b in zip(first, second):
    for key in ("loss", "grad_norm"):
        # 1e-5: hundreds of roundings of 6e-8 between the data and a logged number.
        assert abs(a[key] - b[key]) <= 1e-5 * abs(a[key]), f"step {a['step']}: {key} is {a[key]} and {b[key]}"
