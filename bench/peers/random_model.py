"""Writes a model with random weights as transformers saves it and, if asked for, as llama.cpp reads it.

Usage: random_model.py config.json FOLDER f32|bf16|int8 [MODEL.gguf]
The folder of int8 is in f32; MODEL.gguf then has Q8_0. Prints the elements of weights that every token reads, of these the
elements and the output channels of matrices, and the elements of keys and values of a position.
"""
import json
import pathlib
import sys

def write_weights(config, folder, precision):
    """Writes a folder as transformers saves it; returns the weights in f32."""
    import torch
    import transformers
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(config))
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "int8": torch.float32}[precision]
    model.to(dtype).save_pretrained(folder)
    saved = {**json.loads(config.read_text()), "dtype": str(dtype).split(".")[1]}
    (folder / "config.json").write_text(json.dumps(saved))
    return {name: value.float() for name, value in model.state_dict().items()}


def read_weights(config, weights):
    """Returns the weights that every token needs: all but tables of which it reads a row."""
    tied = config.get("tie_word_embeddings", True)
    return {name: value for name, value in weights.items()
            if not name.endswith("wpe.weight") and not (name == "lm_head.weight" and tied)
            and not (name.endswith("embed_tokens.weight") and not tied)}


def is_transposed(name):
    """Returns whether a matrix is stored by input rows, as GPT-2's are."""
    return any(part in name for part in ("c_attn.weight", "c_proj.weight", "c_fc.weight"))


def counted(config, weights):
    read = read_weights(config, weights)
    matrices = {name: value for name, value in read.items() if value.dim() == 2}
    return {"weights_of_token": sum(value.numel() for value in read.values()),
            "of_matrices": sum(value.numel() for value in matrices.values()),
            "channels": sum(value.shape[is_transposed(name)] for name, value in matrices.items()),
            "cache_of_position": cache_elements(config)}


def cache_elements(config):
    """Returns the elements of keys and values of a position."""
    layers, width = (config.get("n_layer") or config["num_hidden_layers"]), (config.get("n_embd") or config["hidden_size"])
    heads = config.get("n_head") or config["num_attention_heads"]
    return 2 * layers * (config.get("num_key_value_heads") or heads) * (width // heads)


LLAMA = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
GPT2 = {"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
        "mlp.c_proj": "ffn_down"}
WHOLE = {"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm",
         "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    """Returns the name that llama.cpp gives a tensor of transformers."""
    stem, kind = name.rsplit(".", 1)
    if stem in WHOLE:
        return f"{WHOLE[stem]}.{kind}"
    layer, part = stem.split(".", 3)[2:]
    return f"blk.{layer}.{({**LLAMA, **GPT2})[part]}.{kind}"


def interleaved(value, heads):
    """Interleaves halves: llama.cpp rotates neighbours where transformers rotates halves of a head."""
    return value.reshape(heads, 2, -1, value.shape[1]).transpose(1, 2).reshape(value.shape)


def write_gguf(config, weights, path, precision):
    import gguf
    import torch
    is_llama = config["model_type"] == "llama"
    writer = gguf.GGUFWriter(path, "llama" if is_llama else "gpt2")
    key = lambda ours, theirs: config[theirs if is_llama else ours]
    writer.add_context_length(key("n_positions", "max_position_embeddings"))
    writer.add_embedding_length(key("n_embd", "hidden_size"))
    writer.add_block_count(key("n_layer", "num_hidden_layers"))
    writer.add_feed_forward_length(config["intermediate_size"] if is_llama else 4 * config["n_embd"])
    writer.add_head_count(key("n_head", "num_attention_heads"))
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("none")
    if is_llama:
        writer.add_head_count_kv(config["num_key_value_heads"])
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
        writer.add_rope_freq_base(config["rope_theta"])
        writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    else:
        writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    for name, value in weights.items():
        if name == "lm_head.weight" and config.get("tie_word_embeddings", True):
            continue
        if is_transposed(name):
            value = value.T
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            value = interleaved(value, config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"])
        value = value.contiguous()
        if precision == "bf16" and value.dim() == 2 and "wpe" not in name:
            writer.add_tensor(gguf_name(name), value.bfloat16().view(torch.int16).numpy().view("uint8"),
                              raw_dtype=gguf.GGMLQuantizationType.BF16)
        elif precision == "int8" and value.dim() == 2 and "wpe" not in name:
            writer.add_tensor(gguf_name(name), gguf.quants.quantize(value.numpy(), gguf.GGMLQuantizationType.Q8_0),
                              raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(gguf_name(name), value.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    path, folder, precision, *gguf = sys.argv[1:]
    config = json.loads(pathlib.Path(path).read_text())
    weights = write_weights(pathlib.Path(path), pathlib.Path(folder), precision)
    if gguf:
        write_gguf(config, weights, gguf[0], precision)
    print(json.dumps(counted(config, weights)))


if __name__ == "__main__":
    main()
