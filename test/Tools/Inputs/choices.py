"""Checks the output of evaluate --choices.

choices.py REFERENCE FAMILY FILE   it is what transformers computed
choices.py TEXTS DIRECTORY         writes texts.jsonl and tokens.jsonl
choices.py --same FILE FILE        both have the same answers
"""
import json
import math
import pathlib
import sys


def close(found, wanted, tolerance):
    return all(math.isclose(a, b, rel_tol=tolerance) for own, other in zip(found, wanted, strict=True)
               for a, b in zip(own, other, strict=True))


def logs(path):
    result = json.load(open(path))
    return result, [answer["log_probabilities"] for answer in result["answers"]]


if sys.argv[1] == "--same":
    (first, found), (second, wanted) = logs(sys.argv[2]), logs(sys.argv[3])
    assert close(found, wanted, 1e-5), (found, wanted)
    assert first["acc"] == second["acc"], (first, second)
elif len(sys.argv) == 3:
    questions, folder = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2])
    for name, key in ("texts", "text"), ("tokens", "tokens"):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(q[key]) + "\n" for q in questions))
else:
    wanted = json.load(open(sys.argv[1]))[sys.argv[2]]
    result, found = logs(sys.argv[3])
    assert close(found, wanted["log_probabilities"], 1e-9), (found, wanted)
    assert [answer["predicted_tokens"] for answer in result["answers"]] == wanted["predicted_tokens"]
    for name in "acc", "acc_norm":
        assert math.isclose(result[name], wanted[name]), (name, result, wanted)
