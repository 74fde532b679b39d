"""A trace of tessera train: usage check_trace.py FILE RANKS KIND..., with the kinds of op that run beside the program."""
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
ranks = int(sys.argv[2])
kinds = sys.argv[3:]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert sorted(set(names.values())) == ["communication", "program"], names
threads = {}
for event in events:
    if event["ph"] == "X":
        assert event["ts"] >= 0 and event["dur"] >= 0 and event["name"].startswith(event["cat"]), event
        threads.setdefault((event["pid"], event["tid"]), []).append(event)
assert sorted(threads) == [(rank, thread) for rank in range(ranks) for thread in range(2)], sorted(threads)
for ops in threads.values():
    for before, after in zip(ops, ops[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + 0.01, (before, after)
for rank in range(ranks):
    # An op of a task is started once for each micro-batch.
    started = {}
    for event in threads[rank, 0]:
        if event["cat"] in kinds:
            started.setdefault(event["args"]["op"], []).append(event["ts"])
    waits = sum(e["cat"] == "wait" for e in threads[rank, 0])
    # Every started call runs once and is waited for.
    assert 0 < waits == len(threads[rank, 1]), (waits, len(threads[rank, 1]))
    for event in threads[rank, 1]:
        assert event["cat"] in kinds and event["ts"] >= started[event["args"]["op"]].pop(0), event
beside = {e["cat"] for rank in range(ranks) for e in threads[rank, 1]}
assert beside == set(kinds), (beside, kinds)
