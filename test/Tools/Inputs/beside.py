"""Checks the part of a report (JSON on the standard input) about computation beside communication: no group of
collectives and messages has more beside it than a rank computes, though many of a group are under way at once."""
import json
import sys

report = json.load(sys.stdin)
most = max(stage["flops"] for stage in report["pipeline"]["stages"])
assert report["flops_of_rank"] == most, (report["flops_of_rank"], most)
beside = [group for group in report["collectives"] if group["async_calls"] > 1]
assert any(group["flops_beside"] > 0 for group in beside), beside
for group in report["collectives"]:
    assert 0 <= group["flops_beside"] <= most, (group, most)
    assert group["async_calls"] or not group["ops_beside"], group
