"""The bytes of evaluated labels, counted from tokenizer.json alone, are those that tessera evaluate counts.

bits_per_byte.py tokenizer.json DIRECTORY                  lines.bin, beside.json, named.json, log.jsonl, curves
bits_per_byte.py tokenizer.json DIRECTORY --pairs PADDING  lines.bin, pairs.jsonl
"""
import json
import math
import pathlib
import struct
import sys

file = json.load(open(sys.argv[1]))
directory = pathlib.Path(sys.argv[2])
special = {token["id"] for token in file["added_tokens"] if token["special"]}
# Each character of a byte-level token stands for a byte.
length_of = {i: 0 if i in special else len(token) for token, i in file["model"]["vocab"].items()} | {i: 0 for i in special}
data = (directory / "lines.bin").read_bytes()
tokens = struct.unpack(f"<{len(data) // 2}H", data)
assert any(token in special for token in tokens)


def bits(loss, labels):
    return loss * len(labels) / sum(length_of[token] for token in labels) / math.log(2)


def evaluation(name):
    [line] = [line for line in map(json.loads, open(directory / name)) if "eval_loss" in line]
    return line


if sys.argv[3:4] == ["--pairs"]:
    padding = int(sys.argv[4])
    targets = [token for at in range(0, len(tokens) // 24 * 24, 24) for token in tokens[at + 16:at + 24]]
    labels = [token for token in targets if token != padding]
    line = evaluation("pairs.jsonl")
    assert line["eval_labels"] == len(labels) < len(targets), line
    assert math.isclose(line["eval_bits_per_byte"], bits(line["eval_loss"], labels), rel_tol=1e-12), line
    sys.exit()
every = tokens[1:(len(tokens) - 1) // 16 * 16 + 1]
for name in "beside", "named":
    found = json.load(open(directory / f"{name}.json"))
    assert (found["labels"], found["bytes"]) == (len(every), sum(length_of[token] for token in every)), found
    assert math.isclose(found["bits_per_byte"], bits(found["loss"], every), rel_tol=1e-12), found
line = evaluation("log.jsonl")
assert line["eval_labels"] == len(every), line  # also those of a last batch that is not whole
assert 0 < line["eval_bits_per_byte"] < line["eval_loss"] / math.log(2), line
assert any(b"eval/bits_per_byte" in path.read_bytes() for path in (directory / "curves").iterdir())
