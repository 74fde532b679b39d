"""A trace of tessera train: usage check_trace.py FILE RANKS KIND..., with the kinds of op that run beside the program."""
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
ranks = int(sys.argv[2])
kinds = sys.argv[3:]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
PROGRAM, MESSAGES = 0, 2
used = ["program", "communication"] + (["messages"] if "send" in kinds else [])
assert sorted(set(names.values())) == sorted(used), names
threads = {}
for event in events:
    if event["ph"] == "X":
        assert event["ts"] >= 0 and event["dur"] >= 0 and event["name"].startswith(event["cat"]), event
        threads.setdefault((event["pid"], event["tid"]), []).append(event)
assert sorted(threads) == [(rank, thread) for rank in range(ranks) for thread in range(len(used))], sorted(threads)
for (rank, thread), ops in threads.items():
    assert names[rank, thread] == used[thread], (rank, thread, names)
    for before, after in zip(ops, ops[1:]):  # messages are copied when both ranks have started them
        assert thread == MESSAGES or before["ts"] + before["dur"] <= after["ts"] + 0.01, (before, after)
for rank in range(ranks):
    # An op of a task is started once for each micro-batch.
    started = {}
    for event in threads[rank, PROGRAM]:
        if event["cat"] in kinds:
            started.setdefault(event["args"]["op"], []).append(event["ts"])
    waits = sum(e["cat"] == "wait" for e in threads[rank, PROGRAM])
    # Every started call runs once and is waited for.
    beside = [event for thread in range(1, len(used)) for event in threads[rank, thread]]
    assert 0 < waits == len(beside), (waits, len(beside))
    for event in beside:
        assert event["cat"] in kinds and event["ts"] >= started[event["args"]["op"]].pop(0), event
    for thread in range(1, len(used)):
        for event in threads[rank, thread]:
            assert (event["cat"] in ("send", "receive")) == (thread == MESSAGES), event
found = {e["cat"] for (rank, thread), ops in threads.items() if thread != PROGRAM for e in ops}
assert found == set(kinds), (found, kinds)
