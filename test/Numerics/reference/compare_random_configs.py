#!/usr/bin/env python3
"""Compares `tessera evaluate` with `transformers` on random small configs of the decoders that are rows of a table.

    python3 compare_random_configs.py [SEED [COUNT]]

Each config is a random choice of sizes, norms, rotations, windows, factors and experts; some keys are left out, so that the
defaults count. The mean loss of four sequences of random tokens must be the same to 1e-9 in f64, serial and on a mesh.
Needs torch and transformers (run with 2.15 and 5.24), and `tessera` in PATH. Exits with 1 after a difference.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers

import make_transformers_reference as reference

LENGTH, SEQUENCES = 16, 4
OPTIONAL = ("attention_bias", "mlp_bias", "tie_word_embeddings", "rms_norm_eps", "norm_topk_prob", "decoder_sparse_step",
            "mlp_only_layers", "attention_multiplier", "residual_multiplier", "hidden_act", "rope_parameters")
HAS_BIASES = ("qwen3", "qwen3_moe", "olmo2", "olmoe", "granite", "smollm3", "gemma", "seed_oss")


def sizes(r, family):
    heads = r.choice([1, 2, 4])
    # transformers rounds the root of the hidden size to f32 in a Gemma: 4 is exact.
    hidden = 16 if family.startswith("gemma") else r.choice([16, 32])
    return {"vocab_size": r.choice([37, 50, 64]), "hidden_size": hidden, "intermediate_size": r.choice([20, 33]),
            "num_hidden_layers": r.choice([1, 2, 3]), "num_attention_heads": heads * r.choice([1, 2]), "num_key_value_heads": heads,
            "max_position_embeddings": LENGTH, "rms_norm_eps": r.choice([1e-6, 1e-3]), "tie_word_embeddings": r.random() < 0.5,
            "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": r.choice([None, 0, 5])}


def rotation(r):
    kind = r.choice(["default", "linear", "llama3", "yarn"])
    keys = {"rope_type": kind, "rope_theta": r.choice([30.0, 100.0, 10000.0])}
    if kind != "default":
        keys["factor"] = r.choice([2.0, 4.0])
    if kind == "llama3":
        keys.update(low_freq_factor=1.0, high_freq_factor=4.0)
    return {**keys, **({"original_max_position_embeddings": 8} if kind in ("llama3", "yarn") else {})}


def gemma3(r, layers):
    full, sliding = rotation(r), {"rope_type": "default", "rope_theta": r.choice([30.0, 100.0])}
    keys = {"head_dim": r.choice([4, 6]), "sliding_window": r.choice([3, 5, 40]), "query_pre_attn_scalar": r.choice([4, 9]),
            "final_logit_softcapping": r.choice([None, 2.0]), "rope_parameters": {"full_attention": full, "sliding_attention": sliding}}
    if r.random() < 0.5:
        keys["layer_types"] = [r.choice(["sliding_attention", "full_attention"]) for _ in range(layers)]
    if r.random() < 0.5:  # Files of transformers 4 say it this way.
        del keys["rope_parameters"]
        keys.update(rope_theta=full.pop("rope_theta"), rope_local_base_freq=sliding["rope_theta"])
        keys.update({"rope_scaling": full} if full["rope_type"] != "default" else {})
    return keys


def own_keys(r, family, layers):
    """The keys of one family, beside those of all."""
    count = r.choice([3, 4, 6])
    experts = {"num_experts": count, "num_experts_per_tok": r.choice([1, 2, count]), "norm_topk_prob": r.random() < 0.5}
    dense = {"moe_intermediate_size": r.choice([8, 12]), "decoder_sparse_step": r.choice([1, 2]), "mlp_only_layers": r.choice([[], [0]])}
    return {
        "qwen3": lambda: {"head_dim": r.choice([4, 6]), "use_sliding_window": r.random() < 0.5, "sliding_window": r.choice([3, 5]),
                          "max_window_layers": r.choice([0, 1])},
        "qwen3_moe": lambda: {**experts, **dense},
        "qwen2_moe": lambda: {**experts, **dense, "shared_expert_intermediate_size": r.choice([6, 14]), "qkv_bias": r.random() < 0.5},
        "olmoe": lambda: experts,
        "olmo2": dict,
        "smollm3": lambda: {
            "use_sliding_window": r.random() < 0.5, "sliding_window": r.choice([None, 3, 5]),
            **({"no_rope_layers": [r.choice([0, 1]) for _ in range(layers)]} if r.random() < 0.5
               else {"no_rope_layer_interval": r.choice([1, 2, 3])})},
        "granite": lambda: {"embedding_multiplier": r.choice([1.0, 3.0]), "residual_multiplier": r.choice([1.0, 0.3]),
                            "attention_multiplier": r.choice([1.0, 0.1]), "logits_scaling": r.choice([1.0, 3.0])},
        "seed_oss": lambda: {"head_dim": r.choice([4, 6]), "attention_out_bias": r.random() < 0.5, "attention_dropout": 0.0,
                             "residual_dropout": 0.0},
        "gemma": lambda: {"head_dim": r.choice([4, 6]), "hidden_act": r.choice(["gelu", "gelu_pytorch_tanh", "silu"])},
        "gemma3_text": lambda: gemma3(r, layers),
    }[family]()


FAMILIES = ("qwen3", "qwen3_moe", "qwen2_moe", "olmoe", "olmo2", "smollm3", "granite", "seed_oss", "gemma", "gemma3_text")


def random_config(r):
    family = r.choice(FAMILIES)
    keys = {**sizes(r, family), "rope_parameters": rotation(r)}
    keys.update({"attention_bias": r.random() < 0.5} if family in HAS_BIASES else {})
    if family == "gemma3_text":
        del keys["rope_parameters"]
    keys.update(own_keys(r, family, keys["num_hidden_layers"]))
    for key in OPTIONAL:
        if key in keys and r.random() < 0.2:
            del keys[key]
    return family, keys


def make(r, folder):
    """A folder with a model as transformers saves it, or with its config as a person may write it."""
    family, keys = random_config(r)
    config = transformers.CONFIG_MAPPING[family](**json.loads(json.dumps(keys)))
    config._attn_implementation = config._experts_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config)
    reference.randomize(model)
    model.save_pretrained(folder)
    if r.random() < 0.5:
        (folder / "config.json").write_text(json.dumps({"model_type": family, **keys}))
    return {"family": family, "keys": keys, "config": config, "class": type(model), "weights": model.state_dict(), "folder": folder}


def wanted(case):
    """The loss of transformers, and the tokens in a file of the folder."""
    model = case["class"](case["config"]).double()
    model.load_state_dict(case["weights"])
    model.tie_weights()
    tokens = torch.randint(case["config"].vocab_size, (SEQUENCES * LENGTH + 1,))
    numpy.asarray(tokens.tolist(), dtype=numpy.uint16).tofile(case["folder"] / "tokens.bin")
    with torch.no_grad():
        logits = model.eval()(tokens[:-1].reshape(SEQUENCES, LENGTH), use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[1:]).item()


def compare(case, mesh, loss):
    folder = case["folder"]
    done = subprocess.run(
        ["tessera", "evaluate", folder, "--load-weights", folder, "--precision", "f64", "--seq-length", str(LENGTH), "--batch", "4",
         "--data", folder / "tokens.bin", "--data-format", "uint16", "--json", *mesh], capture_output=True, text=True)
    if done.returncode == 0 and abs(json.loads(done.stdout)["loss"] / loss - 1) < 1e-9:
        return 0
    print("DIFFERENT:", case["family"], mesh, case["keys"], loss, done.stdout, done.stderr[-300:])
    return 1


def main(seed=1, count=40):
    r = random.Random(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as scratch:
        cases = []
        for number in range(count):
            folder = pathlib.Path(scratch) / str(number)
            folder.mkdir()
            cases.append(make(r, folder))
        reference.compute_in_double()
        differences = compared = 0
        for case in cases:
            try:
                loss = wanted(case)
            except IndexError:  # transformers has no load-balance loss of no mixture
                continue
            axes = ["dp=2", "cp=2"] + ["tp=2"] * (case["keys"]["num_key_value_heads"] % 2 == 0)
            differences += sum(compare(case, mesh, loss) for mesh in ([], ["--mesh", r.choice(axes)]))
            compared += 1
    print(f"{compared} models compared, {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
