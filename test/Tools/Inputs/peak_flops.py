"""The share that a run logs is the flops of the report, without those done again, over time and peak.

peak_flops.py DIRECTORY PEAK      log.jsonl, report.json
"""
import json
import math
import pathlib
import sys

directory, peak = pathlib.Path(sys.argv[1]), float(sys.argv[2])
report = json.load(open(directory / "report.json"))
ranks, tokens = 2, 4 * 16
again = report["recompute"]["flops_of_rank"]
assert again > 0
flops = (report["flops_of_rank"] - again) * ranks
lines = [json.loads(line) for line in open(directory / "log.jsonl")]
assert len(lines) == 3
for line in lines:
    assert math.isclose(line["mfu"], line["tokens_per_second"] / tokens * flops / peak, rel_tol=1e-9), (line, flops)
assert any(b"train/mfu" in path.read_bytes() for path in (directory / "curves").iterdir())
