"""Verifies random valid configurations: model, mesh, flags. Of a failure it prints the smallest that still fails.

Models are those of test/models in other sizes. Programs are training steps, or with --programs those that generate or
encode. The same seed gives the same configurations. Exits with 1 if one fails.
"""
import argparse
import json
import math
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import models
import verify

MOST_RANKS = 8
# The config of each family.
BASES = {name: json.load(open(path)) for name, path in models.paths().items()}
AXES = ("pp", "dp", "ep", "cp", "tp")


def drawMesh(rng):
    """Sizes of axes; most meshes have two or three of them."""
    sizes = dict.fromkeys(AXES, 1)
    for axis in rng.sample(AXES, rng.randint(1, 3)):
        ranks = math.prod(sizes.values())
        sizes[axis] = rng.choice([size for size in (1, 2, 2, 3, 4) if ranks * size <= MOST_RANKS])
    return sizes


def draw(rng):
    """A valid configuration: sizes that meshes divide where they must, anything elsewhere, most of it indivisible."""
    mesh = drawMesh(rng)
    micro = rng.choice([1, 1, 2, 3, 4])
    config = {
        "family": rng.choice(sorted(BASES)), "layers": rng.randint(1, 3),
        "heads": mesh["tp"] * rng.randint(1, 3), "queries": rng.choice([1, 1, 2, 3, mesh["tp"]]), "head_size": rng.choice([2, 4, 6, 8]),
        "vocabulary": rng.randint(2, 70), "positions": rng.randint(1, 16), "inner": rng.choice([0, rng.randint(2, 60)]),
        "activation": rng.choice(["gelu_new", "gelu", "relu"]), "tied": rng.random() < 0.6,
        "dropout": rng.choice([0.0, 0.0, 0.2]), "attention_dropout": rng.choice([0.0, 0.2]),
        **mesh, "order": rng.choice([AXES, AXES, AXES, AXES[::-1]]), "micro": micro, "batch": micro * rng.randint(1, 5),
        "experts": rng.randint(2, 4), "top": rng.choice([1, 2]), "balance": rng.random() < 0.6,
        "schedule": rng.choice(["gpipe", "1f1b", "zero-bubble", "interleaved"]), "virtual": rng.choice([2, 2, 3]),
        "ulysses": rng.random() < 0.5, "zero": rng.randint(0, 3), "sequence_parallel": rng.random() < 0.5,
        "recompute": rng.choice(["none", "none", "selective", "full"]), "recompute_layers": rng.choice([0, 1]),
        "precision": rng.choice(["f32", "f32", "f32", "bf16", "f64"]), "clip": rng.random() < 0.8,
        "overlap": rng.choice([[], [], ["--no-overlap"], ["--bucket-size", "0"], ["--bucket-size", "1KiB"]]),
        "program": rng.random() < 0.3, "window": rng.choice([0, rng.randint(1, 16)]),
        "masked": rng.random() < 0.3,
    }
    return repaired(config)


def drawInference(rng, programs):
    """Draws a configuration of programs that generate or encode."""
    config = {
        **draw(rng), "programs": programs, "slots": rng.randint(1, 6), "length": rng.randint(1, 40),
        "chunk": rng.randint(1, 24), "candidates": rng.choice([0, 0, 1, 2, 5]), "int8": rng.random() < 0.3,
        "predictions": rng.randint(1, 9), "heads": rng.randint(1, 6),
    }
    return repaired(config)


def isMasked(family):
    return "mask_token_id" in BASES[family]


def isPair(family):
    return BASES[family].get("is_encoder_decoder", False)


def hasExperts(family):
    return "num_local_experts" in BASES[family]


def hasPrograms(family, programs):
    return isMasked(family) or isPair(family) if programs == "encode" else not isMasked(family)


def repairedInference(config):
    """Adds the options of programs that generate or encode."""
    possible = [family for family in sorted(BASES) if hasPrograms(family, config["programs"])]
    if config["family"] not in possible:
        config["family"] = possible[-1]
    config.update(micro=1, schedule="1f1b", virtual=1, recompute="none", recompute_layers=0, overlap=[], clip=True, zero=0,
                  sequence_parallel=False, ulysses=False, program=False,
                  masked=config["masked"] and config["programs"] == "encode")
    lanes = config["dp"] * config["ep"]
    config["slots"] = -(-config["slots"] // lanes) * lanes
    config["positions"] = max(config["positions"], config["length"])
    config["candidates"] = min(config["candidates"], config["vocabulary"])
    if config["precision"] == "f64":
        config["int8"] = False


def repaired(config):
    """The nearest configuration that Tessera accepts."""
    config = dict(config)
    if "programs" in config:
        repairedInference(config)
    if config["pp"] == 1:
        config["schedule"] = "1f1b"
    if config["schedule"] != "interleaved":
        config["virtual"] = 1
    # An embedding, two residual branches a layer, a head: a chunk needs one of them.
    config["layers"] = max(config["layers"], -(-(config["pp"] * config["virtual"] - 2) // 2))
    config["zero"] *= config["dp"] > 1
    config["sequence_parallel"] &= config["tp"] > 1
    config["ulysses"] &= config["cp"] > 1
    config["recompute_layers"] *= config["recompute"] == "full"
    if "num_key_value_heads" not in BASES[config["family"]]:
        config["queries"] = 1
    if isPair(config["family"]):
        config.update(cp=1, ulysses=False, queries=1, precision="f32" if config["precision"] == "bf16" else config["precision"])
    if config["heads"] % config["tp"] and config["queries"] % config["tp"]:
        config["heads"] = config["tp"]
    if not hasExperts(config["family"]):
        config["ep"] = 1
    config["experts"] = -(-config["experts"] // config["ep"]) * config["ep"]
    config["sequence_parallel"] &= not (config["ulysses"] or config["cp"] > 1 and config["queries"] > 1)
    if config["ulysses"]:
        config["positions"] = -(-config["positions"] // config["cp"]) * config["cp"]
        unit = config["tp"] * config["cp"]
        config["heads"] = -(-config["heads"] // unit) * unit
    unit = config["micro"] * (config["dp"] * config["ep"] if config["ep"] > 1 else 1)
    config["batch"] = -(-config["batch"] // unit) * unit
    return config


def values(config, base):
    """Returns values of the keys that a family may have. `heads` are key heads, each with `queries` query heads."""
    heads = config["heads"] * config["queries"]
    inner = config["inner"] or 3 * config["head_size"]
    activation = config["activation"]
    sizes = {
        ("n_layer", "num_hidden_layers", "num_layers", "num_decoder_layers"): config["layers"],
        ("n_head", "num_attention_heads", "num_heads"): heads, ("num_key_value_heads",): config["heads"],
        ("n_embd", "hidden_size", "d_model"): heads * config["head_size"], ("head_dim", "d_kv"): config["head_size"],
        ("n_positions", "max_position_embeddings"): config["positions"],
        ("n_inner", "intermediate_size", "d_ff"): inner, ("vocab_size",): config["vocabulary"],
        ("tie_word_embeddings",): config["tied"], ("sliding_window",): config["window"] or None,
        ("use_sliding_window",): config["window"] > 0, ("max_window_layers",): 1,
        ("num_local_experts",): config["experts"], ("num_experts_per_tok",): config["top"],
        ("output_router_logits",): config["balance"], ("mask_token_id",): config["vocabulary"] - 1,
        ("feed_forward_proj",): "relu" if activation == "relu" else "gated-gelu",
        ("activation_function", "hidden_act"): "silu" if base.get("hidden_act") == "silu" else activation,
    }
    return {key: value for keys, value in sizes.items() for key in keys}


def model(config):
    """Returns the family's config.json in other sizes."""
    base = BASES[config["family"]]
    chosen = {**base, **{key: value for key, value in values(config, base).items() if key in base}}
    for key, value in base.items():
        if "drop" in key and isinstance(value, float):
            chosen[key] = config["attention_dropout" if key.startswith("att") else "dropout"]
        if key.endswith("_token_id") and isinstance(value, int):
            chosen[key] = min(chosen[key], config["vocabulary"] - 1)
    for key in ("layer_types", "dense_act_fn", "is_gated_act"):  # they say again what others say
        chosen.pop(key, None)
    return json.dumps(chosen)


def meshOf(config):
    return ",".join(f"{axis}={config[axis]}" for axis in config["order"] if config[axis] > 1)


def flags(config):
    words = ["--batch", str(config["batch"])]
    if config.get("programs") == "generate":
        words = ["--programs", "generate", "--max-batch", str(config["slots"]), "--max-length", str(config["length"]),
                 "--prefill-chunk", str(config["chunk"])]
        words += ["--candidates", str(config["candidates"])] if config["candidates"] else []
    elif config.get("programs"):
        words += ["--programs", config["programs"]]
        words += ["--max-predictions", str(config["predictions"])] if isMasked(config["family"]) else []
    if config.get("int8"):
        words += ["--weights", "int8"]
    if meshOf(config):
        words += ["--mesh", meshOf(config)]
    if config["micro"] > 1:
        words += ["--micro-batches", str(config["micro"])]
    if config["schedule"] != "1f1b":
        words += ["--schedule", config["schedule"]]
    if config["virtual"] > 1:
        words += ["--virtual-stages", str(config["virtual"])]
    if config["ulysses"]:
        words += ["--context-parallel", "ulysses"]
    if config["zero"]:
        words += ["--zero", str(config["zero"])]
    if config["sequence_parallel"]:
        words += ["--sequence-parallel"]
    if config["recompute"] != "none":
        words += ["--recompute", config["recompute"]]
    if config["recompute_layers"]:
        words += ["--recompute-layers", str(config["recompute_layers"])]
    if config["precision"] != "f32":
        words += ["--precision", config["precision"]]
    if config["masked"]:
        words += ["--padding-mask"] if isMasked(config["family"]) or isPair(config["family"]) else ["--document-mask", "--separator", "0"]
    return words + config["overlap"] + ([] if config["clip"] else ["--clip", "0"])


def run(config, tessera):
    """Returns how it ended; the command makes its own config.json."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "failing.json")
        with open(path, "w") as file:
            file.write(model(config))
        program = os.path.join(folder, "failing.mlir") if config["program"] else None
        outcome = verify.verify(tessera, path, flags(config), program)
    outcome.command = f"echo '{model(config)}' > failing.json && " + outcome.command.replace(path, "failing.json")
    return outcome


# Changes that make a configuration smaller, the largest steps first.
STEPS = [
    ("family", "gpt2"), ("balance", False), ("experts", 2), ("top", 1), ("queries", 1), ("program", False), ("precision", "f32"), ("recompute", "none"), ("recompute_layers", 0), ("zero", 0),
    ("sequence_parallel", False), ("ulysses", False), ("overlap", []), ("schedule", "1f1b"), ("virtual", 1), ("micro", 1), ("clip", True),
    ("order", AXES), ("dropout", 0.0), ("attention_dropout", 0.0), ("tied", True), ("activation", "gelu_new"), ("inner", 0), ("window", 0), ("masked", False),
    ("pp", 1), ("dp", 1), ("ep", 1), ("cp", 1), ("tp", 1), ("pp", 2), ("dp", 2), ("cp", 2), ("tp", 2), ("layers", 1),
    ("int8", False), ("candidates", 0), ("slots", 1), ("length", 1), ("length", 4), ("chunk", 1), ("predictions", 1),
    ("heads", 1), ("head_size", 2), ("positions", 1), ("positions", 2), ("vocabulary", 2), ("vocabulary", 4), ("batch", 1),
]


def shrink(config, kind, test):
    """Takes every step after which `test` still fails in the same way, until none is left."""
    changed = True
    while changed:
        changed = False
        for key, value in STEPS:
            if key not in config or key == "family" and value not in BASES:
                continue
            smaller = repaired({**config, key: value})
            grows = type(value) is int and smaller[key] >= config[key]
            if smaller != config and not grows and test(smaller).kind == kind:
                config, changed = smaller, True
    return config


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tessera", default=verify.defaultTessera(), help="the program (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--programs", choices=["train", "generate", "encode"], default="train", help="(default: %(default)s)")
    parser.add_argument("--count", type=int, default=100, help="configurations (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time (default: %(default)s)")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    drawOne = draw if options.programs == "train" else lambda rng: drawInference(rng, options.programs)
    configs = [drawOne(rng) for _ in range(options.count)]
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (config, outcome) in enumerate(zip(configs, pool.map(lambda c: run(c, options.tessera), configs))):
            print(f"{number:3} {'ok    ' if outcome.ok else 'FAILED'} {' '.join(flags(config))}", flush=True)
            if outcome.ok:
                continue
            failed += 1
            smallest = shrink(config, outcome.kind, lambda c: run(c, options.tessera))
            last = run(smallest, options.tessera)
            print("".join("    " + text + "\n" for text in last.output.splitlines()[-8:]), end="")
            print(f"    again: {last.command}", flush=True)
    print(f"random configurations: {options.count} with seed {options.seed}, {failed} failed")
    return 1 if failed or not configs else 0


if __name__ == "__main__":
    sys.exit(main())
