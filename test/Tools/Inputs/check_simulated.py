"""Checks that a simulated trace has whole calls of one rank that do not overlap, for each of so many micro-batches.

usage: check_simulated.py TRACE RANK MICRO_BATCHES"""
import json
import sys

path, rank, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, encoding="utf-8") as file:
    events = [event for event in json.load(file)["traceEvents"] if event["pid"] == rank]
for thread in (0, 1):
    calls = sorted((event for event in events if event["ph"] == "X" and event["tid"] == thread), key=lambda e: e["ts"])
    assert calls, f"rank {rank} has nothing on thread {thread}"
    end = 0
    for call in calls:
        assert call["ts"] >= end - 1e-6, f"{call} begins before {end}"
        end = call["ts"] + call["dur"]
products = [event for event in events if event.get("cat") == "gemm"]
batches = {event["args"]["micro_batch"] for event in products}
assert batches == set(range(count)), batches
each = {}
for event in products:
    each.setdefault(event["args"]["op"], []).append(event)
assert all(len(runs) in (1, count - 1) for runs in each.values()), {op: len(runs) for op, runs in each.items()}
