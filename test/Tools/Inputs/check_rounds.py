"""check_rounds.py TRACE LOG: the largest number of rounds in the trace is that of the same step in the log."""
import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
numbered = [event for event in events if event.get("cat") == "row_rounds"]
rounds = [event["args"]["rounds"] for event in numbered]
assert rounds, "no call numbers rounds"
assert not any("rounds" in event.get("args", {}) for event in events if event.get("cat") != "row_rounds")
with open(sys.argv[2]) as file:
    last = [json.loads(line) for line in file][-1]
assert max(rounds) == last["expert_rounds"], (rounds, last)
