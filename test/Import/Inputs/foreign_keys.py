"""Imports models with keys of other models, or of the code of a repository."""
import json
import pathlib
import subprocess
import sys

SCRATCH = pathlib.Path(sys.argv[1])
LLAMA = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 8}
GPT2 = {"vocab_size": 50, "n_positions": 8, "n_embd": 12, "n_layer": 2, "n_head": 2}
T5 = {"vocab_size": 50, "d_model": 12, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 3}
SIZES = {"gpt2": GPT2, "t5": T5, "bert": {**LLAMA, "mask_token_id": 4}, "qwen2": {**LLAMA, "num_key_value_heads": 8}}
ANY = {"auto_map": {"AutoModel": "m.M"}, "per_layer_config": {"0": {"rms_norm_eps": 1}}, "quantization_config": {"bits": 4}}
CAUSAL = {"is_causal": False, "use_bidirectional_attention": True}
REFUSED = {
    "gpt2": {**ANY, **CAUSAL, "rope_theta": 10000.0, "alibi": True, "sliding_window": 4, "multi_query": True},
    "llama": {
        **CAUSAL, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30, "embedding_multiplier": 12.0,
        "residual_multiplier": 0.22, "attention_multiplier": 0.0078125, "logits_scaling": 8.0, "logit_scale": 0.0625,
        "partial_rotary_factor": 0.5, "rotary_pct": 0.25, "clip_qkv": 8, "use_parallel_residual": True, "use_qk_norm": True,
        "no_rope_layers": [1, 0], "query_pre_attn_scalar": 256, "scale_embedding": True, "sliding_window": 4, "alibi_bias_max": 8,
        "layer_types": ["full_attention", "sliding_attention"], "num_local_experts": 8, "position_embedding_type": "alibi",
        "attn_temperature_tuning": 4, "mamba_d_state": 16, "scale_attn_by_inverse_layer_idx": True},
    "mistral": {"use_sliding_window": False, "max_window_layers": 1, "q_norm": True},
    "mixtral": {"norm_topk_prob": False, "n_routed_experts": 4},
    "qwen2": {"qk_layernorm": True, "rope_ratio": 2.0},
    "bert": {**ANY, "is_causal": True, "alibi_starting_size": 64, "is_decoder": True, "rotary_emb_fraction": 1.5},
    "t5": {"tie_encoder_decoder": True, "is_decoder": True, "position_embedding_type": "rotary"},
}
NOTHING = {
    "auto_map": {}, "per_layer_config": None, "quantization_config": None, "pruned_heads": {}, "alibi": False,
    "attn_logit_softcapping": None, "final_logit_softcapping": 0, "embedding_multiplier": 1.0, "residual_multiplier": 1,
    "logits_scaling": 1.0, "logit_scale": None, "rotary_pct": 1.0, "clip_qkv": None, "use_parallel_residual": False,
    "use_qk_norm": False, "no_rope_layers": [], "query_pre_attn_scalar": None, "scale_embedding": False, "tie_encoder_decoder": False,
    "layer_types": None, "num_experts_per_tok": None, "add_cross_attention": False, "use_cache": False, "temperature": 0.7,
    "scale_attn_weights": True, "norm_topk_prob": True,
}
OWN = {
    "gpt2": {"is_causal": True, "position_embedding_type": "absolute"}, "t5": {"position_embedding_type": "relative"},
    "bert": {"is_causal": False, "position_embedding_type": "absolute", "pooler_type": "first_token_transform"},
    "llama": {"is_causal": True, "hidden_act": "swish", "partial_rotary_factor": 1.0, "sliding_window": None, "layer_types": ["full_attention"] * 2},
    "mistral": {"use_sliding_window": True, "max_window_layers": 0}, "qwen2": {"use_bidirectional_attention": False},
    "mixtral": {"use_sliding_window": True, "max_window_layers": 28},
}
# Names that transformers gives the same keys.
ALIASES = {"gpt2": {"n_embd": "hidden_size", "n_head": "num_attention_heads"}, "t5": {"d_kv": "head_dim", "num_layers": "num_hidden_layers"}}


def run(family, keys):
    path = SCRATCH / f"{family}.json"
    path.write_text(json.dumps({"model_type": family, **keys}))
    done = subprocess.run(["tessera", "import", path], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check(family):
    sizes = SIZES.get(family, LLAMA)
    for key, value in REFUSED[family].items():
        code, _, text = run(family, {**sizes, key: value})
        shown = str(value).lower() if isinstance(value, (bool, int)) else ""
        assert code == 1 and f"error: '{key}'" in text and shown in text, (family, key, value, text)
    nothing = {key: value for key, value in NOTHING.items() if (family, key) != ("mixtral", "num_experts_per_tok")}
    code, _, text = run(family, {**sizes, **nothing, **OWN[family]})
    assert code == 0 and "warning" not in text, (family, text)


def checkAliases(family, names):
    sizes = SIZES[family]
    renamed = {names.get(key, key): value for key, value in sizes.items()}
    code, program, _ = run(family, renamed)
    assert code == 0 and program.split("\n", 1)[1] == run(family, sizes)[1].split("\n", 1)[1], family
    for key, alias in names.items():
        code, _, text = run(family, {**sizes, alias: 7})
        assert code == 1 and f"'{alias}' = 7 and '{key}' = {sizes[key]} are two names of one value" in text, text


for name in REFUSED:
    check(name)
for name, names in ALIASES.items():
    checkAliases(name, names)
