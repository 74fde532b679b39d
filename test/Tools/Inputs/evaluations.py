"""Compares a run's log of its evaluations with what evaluate says of its checkpoint.

evaluations.py DIRECTORY          the log and the best checkpoint agree
evaluations.py DIRECTORY --same   the serial and the parallel evaluation are the run's last
evaluations.py DIRECTORY --batches SIZE...   13 sequences are measured alike in batches of any size
"""
import json
import math
import pathlib
import sys

directory = pathlib.Path(sys.argv[1])
if sys.argv[2:3] == ["--batches"]:
    found = {int(size): json.load(open(directory / f"batch{size}.json")) for size in sys.argv[3:]}
    first = found[int(sys.argv[3])]
    for size, result in found.items():
        for name in "loss", "bits_per_byte", "perplexity":
            assert math.isclose(result[name], first[name], rel_tol=1e-12), (size, name, found)
        assert result["labels"] == result["bytes"] == 13 * 16, found
        assert result["correct"] == first["correct"] and result["sequences_left_out"] == 0, found
        assert result["batches"] == -(-13 // size), found
    sys.exit()
lines = [json.loads(line) for line in open(directory / "log.jsonl")]
evaluations = {line["step"]: line for line in lines if "eval_loss" in line}
last = evaluations[25]
assert sorted(evaluations) == [10, 20, 25], evaluations
for line in evaluations.values():
    assert math.isclose(line["eval_perplexity"], math.exp(line["eval_loss"]))
    assert math.isclose(line["eval_bits_per_byte"], line["eval_loss"] / math.log(2))
    assert line["eval_labels"] == 5 * 4 * 16
    assert 0 < line["eval_accuracy"] < 1
manifest = json.load(open(directory / "run" / "best" / "manifest.json"))
best = manifest["records"]["evaluations"]["best"]
assert best["loss"] == min(line["eval_loss"] for line in evaluations.values()), best
assert manifest["step"] == best["step"] and (directory / "run" / "best" / "model.safetensors").exists()
if sys.argv[2:] == ["--same"]:
    for name in "serial", "parallel":
        found = json.load(open(directory / f"{name}.json"))
        assert math.isclose(found["loss"], last["eval_loss"], rel_tol=1e-5), (name, found, last)
        assert abs(found["correct"] / found["labels"] - last["eval_accuracy"]) < 0.01, (name, found, last)
        assert found["batches"] == 5
