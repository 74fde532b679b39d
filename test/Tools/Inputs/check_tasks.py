"""Tasks and micro-batches in a trace of tessera train: usage check_tasks.py FILE RANK MICRO_BATCHES [TASKS], with the micro-batches
of each op in a loop ("0,1,2") and what the rank ran of forward and backward tasks, in order ("F0:0,F0:1,B0:0")."""
import itertools
import json
import re
import sys

events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X" and e["pid"] == int(sys.argv[2])]
loop = [int(number) for number in sys.argv[3].split(",")]
expected = sys.argv[4].split(",") if len(sys.argv) > 4 else []
last = max(int(task.split(":")[1]) for task in expected) if expected else None

by_op = {}
for event in events:
    args = event["args"]
    assert "task" not in args or "micro_batch" in args, event
    by_op.setdefault((args["op"], event["tid"]), []).append(args.get("micro_batch"))
# An op of a loop runs for each of its micro-batches in order, on any thread; another one for the last, or for none.
assert all(of_op in (loop, [last], [None]) for of_op in by_op.values()), by_op
PROGRAM, MESSAGES = 0, 2
for tid in [PROGRAM, MESSAGES] if expected else [PROGRAM]:
    assert loop in [of_op for (_, thread), of_op in by_op.items() if thread == tid], by_op

program = [e["args"] for e in events if e["tid"] == 0 and re.fullmatch(r"[FBW]\d+", e["args"].get("task", ""))]
ran = [key for key, _ in itertools.groupby(f"{args['task']}:{args['micro_batch']}" for args in program)]
assert ran == expected, (ran, expected)
assert bool(expected) == any(e["args"].get("task", "").startswith("message") for e in events), events
