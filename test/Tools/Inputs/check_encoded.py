"""Checks what `tessera encode` says of a tiny BERT against what `transformers` computed.

    check_encoded.py DIRECTORY WEIGHTS [OPTION..]

DIRECTORY holds filled.json, which make_encoder_reference.py describes, and config.json.
"""
import json
import pathlib
import subprocess
import sys

folder, weights, *options = sys.argv[1:]
texts = json.loads((pathlib.Path(folder) / "filled.json").read_text())
command = ["tessera", "encode", folder, "--load-weights", weights, "--json", "--fillings", "3", *options]
for text in texts:
    command += ["--text-ids", ",".join(map(str, text["ids"]))]


def run(*more):
    lines = subprocess.run([*command, *more], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    return [json.loads(line) for line in lines]


def near(found, wanted):
    """Compares in f32: its rounding unit (6e-8) times sums of up to 20 terms through a layer and its head."""
    return abs(found - wanted) <= 1e-5 * max(1, abs(wanted))


filled, embedded = run(), run("--embed")
assert len(filled) == len(embedded) == len(texts)
for text, masks, embedding in zip(texts, filled, embedded):
    assert masks["tokens"] == embedding["tokens"] == text["ids"]
    assert [mask["position"] for mask in masks["masks"]] == [mask["position"] for mask in text["masks"]]
    for found, wanted in zip(masks["masks"], text["masks"]):
        assert [one["token"] for one in found["fillings"]] == [token for token, _ in wanted["fillings"]], (found, wanted)
        assert all(near(one["score"], score) for one, (_, score) in zip(found["fillings"], wanted["fillings"])), (found, wanted)
    assert len(embedding["embedding"]) == len(text["embedding"])
    assert all(map(near, embedding["embedding"], text["embedding"])), (embedding, text)
print("encoded as transformers does")
