"""Checks a measured step in the JSON of simulate, or in a page of train, against the trace that it was read from.

    check_measured.py TRACE JSON|PAGE [BOTH]

BOTH is the trace of both steps: it has the events of TRACE as they are, and simulated ranks beside them.
"""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
if sys.argv[2].endswith(".html"):
    data = json.loads(re.search(r'<script type="application/json" id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])["step"]
else:
    data = json.loads(text)
measured = data["measured"]

events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
zero = min(event["ts"] for event in events)
step = (max(event["ts"] + event["dur"] for event in events if event["tid"] == 0) - zero) * 1e-6
assert abs(step - measured["seconds"]) < 1e-9, (step, measured["seconds"])
ranks = sorted({event["pid"] for event in events})
assert [rank["rank"] for rank in measured["ranks"]] == ranks, ranks
stages = len(data.get("stages", [0]))


def total(rank, kinds):
    return sum(event["dur"] for event in events
               if event["pid"] == rank and event["tid"] == 0 and re.fullmatch(kinds, event["cat"])) * 1e-6


for rank in measured["ranks"]:
    number, seconds = rank["rank"], rank["seconds"]
    # The axis of stages is the outermost one in these tests.
    assert rank["stage"] == number * stages // len(ranks), rank["stage"]
    assert abs(sum(seconds.values()) - step) < 1e-9, (seconds, step)
    assert abs(seconds["products"] - total(number, "gemm")) < 1e-9, seconds
    assert abs(seconds["attention"] - total(number, "attention|attention_grad")) < 1e-9, seconds
    end = (max(event["ts"] + event["dur"] for event in events if event["pid"] == number and event["tid"] == 0) - zero) * 1e-6
    waits = seconds["collectives"] + seconds["stages"] - (step - end if stages > 1 else 0)
    assert abs(waits - total(number, "all_reduce|all_gather|reduce_scatter|broadcast|send|receive|wait")) < 1e-9, seconds
    assert seconds["between_calls"] > 0 and (stages > 1) == (seconds["stages"] > 0), seconds
    busy = 0
    for before, after in zip(rank["timeline"]["device"], rank["timeline"]["device"][1:]):
        assert before["end"] <= after["begin"] + 1e-9, (before, after)
    for activity in ("products", "attention", "kernels"):
        found = sum(segment["seconds"].get(activity, 0) for segment in rank["timeline"]["device"])
        assert abs(found - seconds[activity]) < 1e-9, (activity, found)
    assert bool(rank["timeline"]["tasks"]) == (stages > 1), rank["timeline"]["tasks"]
for stage in measured["stages"]:
    of_stage = [rank["seconds"] for rank in measured["ranks"] if rank["stage"] == stage["stage"]]
    assert len(of_stage) == stage["ranks"] == len(ranks) // stages, stage
    for activity, seconds in stage["seconds"].items():
        assert abs(seconds - sum(each[activity] for each in of_stage) / len(of_stage)) < 1e-9, (activity, seconds)

if len(sys.argv) > 3:
    with open(sys.argv[3], encoding="utf-8") as file:
        both = json.load(file)
    assert both["otherData"] == trace["otherData"], both["otherData"]
    assert both["traceEvents"][:len(trace["traceEvents"])] == trace["traceEvents"]
    simulated = both["traceEvents"][len(trace["traceEvents"]):]
    names = {event["pid"]: event["args"]["name"] for event in simulated if event["name"] == "process_name"}
    assert all(re.fullmatch(r"rank \d+, simulated", name) for name in names.values()), names
    assert len(names) == stages and not set(names) & set(ranks), names
    # The same op has the same number, name and task in both.
    called = {event["args"]["op"]: (event["name"], event["args"].get("task")) for event in events}
    for event in simulated:
        if event["ph"] == "X":
            assert called[event["args"]["op"]] == (event["name"], event["args"].get("task")), event
    end = max(event["ts"] + event["dur"] for event in simulated if event["ph"] == "X")
    assert 0 < end <= data["step_seconds"] * 1e6 * (1 + 1e-9), (end, data["step_seconds"])
print("the measured step is that of the trace")
