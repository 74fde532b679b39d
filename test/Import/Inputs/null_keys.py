"""Imports a small model of each family with keys absent, null and at their defaults, which config_defaults.json has from
transformers (../make_config_defaults.py), and compares the programs."""
import json
import pathlib
import re
import subprocess
import sys

SCRATCH = pathlib.Path(sys.argv[1])
TABLE = json.loads((pathlib.Path(__file__).parent / "config_defaults.json").read_text())
# Null means no window, no padding token, and heads that share the hidden size; of key heads as many as heads, as the configs'
# __post_init__ has it.
NULL_IS_REFUSED = {("gemma3_text", "sliding_window")}
NULL_IS_ANOTHER = {("mistral", "sliding_window")} | {
    (family, "head_dim") for family in ("gemma", "gemma3_text", "qwen3", "seed_oss")} | {
    (family, "pad_token_id") for family in ("bert", "gemma", "gemma3_text", "olmo2", "olmoe", "seed_oss", "smollm3")}
NULL_IS_HEADS = {(family, "num_key_value_heads") for family in (
    "mistral", "mixtral", "gemma3_text", "qwen3_moe", "seed_oss", "smollm3")}


def program(config):
    """Returns the serial program, without the text of the config."""
    (SCRATCH / "config.json").write_text(json.dumps(config))
    longer = ["--seq-length", "4097"] if config["model_type"] == "mistral" else []  # than its default window
    done = subprocess.run(["tessera", "import", SCRATCH / "config.json", *longer], capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, (config, done.stderr)
    return re.sub(r'nn\.config_files = \{"?config\.json"? = "(\\.|[^"\\])*"\}', "", done.stdout)


def check(family, table):
    sizes = {"model_type": family, **table["sizes"], **({"mask_token_id": 4} if family == "bert" else {})}
    absent = program(sizes)
    defaults = {key: value for key, value in table["defaults"].items() if value is not None}
    rope = {"rope_parameters": table["rope_parameters"]} if "rope_parameters" in table else {}
    assert program({**sizes, **defaults, **rope}) == absent, f"{family}: defaults"
    apart = {key for name, key in NULL_IS_ANOTHER | NULL_IS_HEADS if name == family}
    refused = {key for name, key in NULL_IS_REFUSED if name == family}
    nulls = [key for key in [*table["defaults"], *table["reads"]] if key not in apart | refused]
    assert program({**sizes, **dict.fromkeys(nulls)}) == absent, f"{family}: nulls"
    for key in sorted(apart):
        found = program({**sizes, key: None})
        assert found != absent, f"{family}: {key}"
        if (family, key) in NULL_IS_HEADS:
            assert found == program({**sizes, key: sizes["num_attention_heads"]}), f"{family}: {key}"


for name, entry in TABLE.items():
    check(name, entry)
