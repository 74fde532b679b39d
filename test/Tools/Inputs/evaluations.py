"""What a run logs of its evaluations, and what evaluate says of its checkpoint.

evaluations.py DIRECTORY          the log and the best checkpoint agree
evaluations.py DIRECTORY --same   the serial and the parallel evaluation are the run's last
"""
import json
import math
import pathlib
import sys

directory = pathlib.Path(sys.argv[1])
lines = [json.loads(line) for line in open(directory / "log.jsonl")]
evaluations = {line["step"]: line for line in lines if "eval_loss" in line}
last = evaluations[25]
assert sorted(evaluations) == [10, 20, 25], evaluations
for line in evaluations.values():
    assert math.isclose(line["eval_perplexity"], math.exp(line["eval_loss"]))
    assert math.isclose(line["eval_bits_per_byte"], line["eval_loss"] / math.log(2))
    assert line["eval_labels"] == 5 * 4 * 16
    assert 0 < line["eval_accuracy"] < 1
best = json.load(open(directory / "run" / "best" / "evaluation.json"))
assert best["loss"] == min(line["eval_loss"] for line in evaluations.values()), best
assert (directory / "run" / "best" / f"step-{best['step']:08d}" / "manifest.json").exists()
if sys.argv[2:] == ["--same"]:
    for name in "serial", "parallel":
        found = json.load(open(directory / f"{name}.json"))
        assert math.isclose(found["loss"], last["eval_loss"], rel_tol=1e-5), (name, found, last)
        assert abs(found["correct"] / found["labels"] - last["eval_accuracy"]) < 0.01, (name, found, last)
        assert found["batches"] == 5
