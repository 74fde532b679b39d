#!/usr/bin/env python3
"""Makes Inputs/config_defaults.json, or with --check compares it: what the configs of the installed `transformers` have
where a key is absent or null, and which keys its models read.

    python3 make_config_defaults.py [--check]

Needs transformers (made with 5.24); nothing of Tessera is used. Of each family in test/models and in the references of test/Numerics:

sizes      a small model
defaults   the value of each other key of the config's class, where the key is absent
nulls      what null makes of a key, where that is neither an error nor the default
reads      keys that the model's code reads beside those
"""
import dataclasses
import importlib
import json
import pathlib
import re
import sys

import transformers

TABLE = pathlib.Path(__file__).parent / "Inputs" / "config_defaults.json"
TESTS = pathlib.Path(__file__).parents[1]
CONFIGS = [*sorted((TESTS / "models").glob("*.json")), *sorted((TESTS / "Numerics/reference").glob("*/config.json"))]
# Sizes that fit the defaults of other keys, as those of test/models may not.
LLAMA = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 16}
SIZES = {
    "gpt2": {"vocab_size": 50, "n_positions": 8, "n_embd": 12, "n_layer": 2, "n_head": 2},
    "llama": LLAMA, "mistral": LLAMA, "qwen2": {**LLAMA, "hidden_size": 64, "num_attention_heads": 32}, "mixtral": LLAMA,
    "bert": LLAMA, "olmo2": LLAMA, "olmoe": LLAMA, "granite": LLAMA, "qwen2_moe": LLAMA, "gemma": LLAMA, "gemma3_text": LLAMA,
    **dict.fromkeys(("qwen3", "qwen3_moe", "seed_oss"), {**LLAMA, "num_attention_heads": 32, "hidden_size": 64}),
    "smollm3": {**LLAMA, "vocab_size": 128256},
    "t5": {"vocab_size": 50, "d_model": 12, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 3},
}
# Keys that the library keeps in a config for itself, and reads to run a model.
INTERNAL = re.compile(r"^_|^(to_dict|get_text_config|num_labels|problem_type|use_return_dict)$")


SIZE_KEYS = {key for sizes in SIZES.values() for key in sizes}


def sizesOf(family, model):
    return SIZES.get(family, {key: value for key, value in model.items() if key in SIZE_KEYS})


def defaultsOf(config, sizes):
    values = {field.name: field.default for field in dataclasses.fields(config)}
    return {key: value for key, value in sorted(values.items()) if key not in sizes and not INTERNAL.match(key)}


def nullsOf(config, sizes, defaults):
    nulls = {}
    for key, default in defaults.items():
        if default is None and getattr(config(**sizes), key, None) == getattr(config(**sizes, **{key: None}), key, None):
            continue
        try:
            found = getattr(config(**sizes, **{key: None}), key)
        except Exception:  # the class refuses null
            continue
        if found != default:
            nulls[key] = found
    return nulls


def readsOf(family, config):
    module = family.removesuffix("_text")
    code = pathlib.Path(importlib.import_module(f"transformers.models.{module}.modeling_{module}").__file__).read_text()
    named = set(re.findall(r"\bconfig\.(\w+)", code)) | set(re.findall(r"getattr\((?:self\.)?config, \"(\w+)\"", code))
    known = {field.name for field in dataclasses.fields(config)}
    return sorted(key for key in named - known if not INTERNAL.match(key))


def tableOf(family, model):
    config = transformers.CONFIG_MAPPING[family]
    sizes = sizesOf(family, model)
    defaults = defaultsOf(config, sizes)
    rope = getattr(config(**sizes), "rope_parameters", None)
    table = {"sizes": sizes, "defaults": defaults, "nulls": nullsOf(config, sizes, defaults), "reads": readsOf(family, config)}
    return {**table, **({"rope_parameters": rope} if rope else {})}


def main():
    transformers.logging.set_verbosity_error()
    models = {}
    for path in CONFIGS:
        model = json.loads(path.read_text())
        models.setdefault(model["model_type"], model)
    text = json.dumps({family: tableOf(family, model) for family, model in models.items()}, indent=1) + "\n"
    if sys.argv[1:] != ["--check"]:
        TABLE.write_text(text)
    elif json.loads(TABLE.read_text()) != json.loads(text):
        sys.exit(f"{TABLE.name} is not what transformers {transformers.__version__} has; see the diff of a new one")


if __name__ == "__main__":
    main()
