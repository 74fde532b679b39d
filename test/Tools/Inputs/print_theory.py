"""Prints what report --json, on the standard input, says of published formulas, a line each; what the program does must be the
sum of the collectives that name the formula."""
import json
import sys

report = json.load(sys.stdin)
for number, theory in enumerate(report["theory"]):
    rows = [row for row in report["collectives"] if row.get("theory") == number]
    assert theory["our_calls"] == sum(row["calls"] for row in rows), (theory, rows)
    assert theory["our_bytes"] == sum(row["bytes_of_step"] for row in rows), (theory, rows)
    same = theory["our_bytes"] == theory["bytes"] and theory["calls"] in (None, theory["our_calls"])
    assert theory["equal"] == same, theory
    print(f"{theory['scheme']}, {theory['phase']}: {theory['collective']} over {theory['axis']}, {theory['calls'] or 'any'} calls,",
          f"{theory['bytes']} bytes,", "equal" if same else f"ours {theory['our_calls']} and {theory['our_bytes']}")
print(len(report["theory"]), "formulas")
