"""Imports a LLaMA with each way of scaling rotations and compares the frequencies with transformers' formulas."""
import json
import math
import pathlib
import re
import subprocess
import sys

HEAD, POSITIONS = 16, 64
BASE = {"model_type": "llama", "vocab_size": 50, "hidden_size": 2 * HEAD, "intermediate_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": POSITIONS}
SCRATCH = pathlib.Path(sys.argv[1])


def plain(theta):
    return [theta ** (-2 * k / HEAD) for k in range(HEAD // 2)]


def llama3(theta, factor, low, high, original):
    found = []
    for f in plain(theta):
        length = 2 * math.pi / f
        smooth = (original / length - low) / (high - low)
        mixed = (1 - smooth) * f / factor + smooth * f
        found.append(f / factor if length > original / low else f if length < original / high else mixed)
    return found


def yarn(theta, factor, original, fast=32, slow=1, truncate=True):
    def dim(rotations):
        return HEAD * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(theta))
    low, high = dim(fast), dim(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, HEAD - 1)
    found = []
    for k, f in enumerate(plain(theta)):
        kept = 1 - min(max((k - low) / (high - low), 0), 1)
        found.append(f / factor * (1 - kept) + f * kept)
    return found


LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
CASES = [
    ({}, plain(1e4), 1),
    ({"rope_theta": 5e5}, plain(5e5), 1),
    ({"rope_scaling": {"type": "linear", "factor": 4.0}}, [f / 4 for f in plain(1e4)], 1),
    ({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, plain(1e4), 1),
    ({"rope_theta": 100.0, "rope_scaling": {"rope_type": "llama3", **LLAMA3}}, llama3(100, 8, 1, 4, 32), 1),
    ({"rope_parameters": {"rope_theta": 100.0, "rope_type": "llama3", **LLAMA3}}, llama3(100, 8, 1, 4, 32), 1),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}},
     yarn(1e4, 4, 4096), 0.1 * math.log(4) + 1),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "truncate": False, "beta_fast": 8, "attention_factor": 0.5}},
     yarn(1e4, 4, POSITIONS, fast=8, truncate=False), 0.5),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "mscale": 2.0, "mscale_all_dim": 1.0}},
     yarn(1e4, 4, POSITIONS), (0.2 * math.log(4) + 1) / (0.1 * math.log(4) + 1)),
    ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "truncate": None, "beta_fast": 8, "mscale": None}},
     yarn(1e4, 4, POSITIONS, fast=8, truncate=False), 0.1 * math.log(4) + 1),
    # rope_scaling replaces all of rope_parameters, unless it is empty.
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}, "rope_scaling": {"type": "linear", "factor": 2.0}},
     [f / 2 for f in plain(1e4)], 1),
    ({"rope_parameters": {"rope_type": "linear", "factor": 4.0}, "rope_theta": 300.0, "rope_scaling": {"rope_type": "default"}},
     plain(300), 1),
    ({"rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}, "rope_scaling": {}},
     [f / 4 for f in plain(500)], 1),
    ({"rope_parameters": {"rope_type": "linear", "factor": 4.0}, "rope_scaling": None}, [f / 4 for f in plain(1e4)], 1),
    # The newer name of the kind, and the theta inside, count.
    ({"rope_scaling": {"type": "dynamic", "rope_type": "linear", "factor": 2.0}}, [f / 2 for f in plain(1e4)], 1),
    ({"rope_theta": 300.0, "rope_parameters": {"rope_theta": 500.0}}, plain(500), 1),
    ({"rope_theta": 300.0, "rope_parameters": {"rope_theta": None}}, plain(300), 1),
    # The positions before scaling: those of the model, those inside, or those beside, which count most.
    ({"rope_scaling": {**LLAMA3, "rope_type": "llama3", "original_max_position_embeddings": None}}, llama3(1e4, 8, 1, 4, POSITIONS), 1),
    ({"original_max_position_embeddings": 16, "rope_scaling": {**LLAMA3, "rope_type": "llama3"}}, llama3(1e4, 8, 1, 4, 16), 1),
    ({"original_max_position_embeddings": 16, "rope_scaling": {"type": "yarn", "factor": None}},
     yarn(1e4, POSITIONS / 16, 16), 0.1 * math.log(POSITIONS / 16) + 1),
    ({"partial_rotary_factor": 1.0, "rope_scaling": {"type": "linear", "factor": 2.0, "partial_rotary_factor": 1}},
     [f / 2 for f in plain(1e4)], 1),
]

for number, (keys, frequencies, scale) in enumerate(CASES):
    path = SCRATCH / f"{number}.json"
    path.write_text(json.dumps({**BASE, **keys}))
    text = subprocess.run(["tessera", "import", path], check=True, capture_output=True, text=True).stdout
    listed, found = re.search(r"frequencies = \[([^\]]*)\], kind = \"cosines\", scale = ([^ ]*) :", text).groups()
    values = [float(x) for x in listed.split(", ")] + [float(found)]
    for wanted, value in zip(frequencies + [scale], values, strict=True):
        assert math.isclose(wanted, value, rel_tol=1e-5), (keys, wanted, value)
