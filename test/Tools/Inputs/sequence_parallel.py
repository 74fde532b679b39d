"""Checks what one more layer keeps and sends under sequence parallelism, from `tessera report --json`.

usage: sequence_parallel.py CONFIG (written anew for each model)
Compares planned arenas with the formulas of docs/MemoryPlan.md: bytes of activations per token of a rank of `tp`, in
bf16. A second difference, in layers and in tokens, leaves exactly these. Korthikanti et al. 2022, section 4.2.2: the
inputs of products that are split by columns are kept split and gathered again in backward.
"""
import json
import subprocess
import sys

from expect import expect

T, H, HEADS, KEYS, F, E, K, S = 4, 256, 8, 4, 1024, 4, 2, 64
SMALL, LARGE = 16, 32  # sequences; the loss is where both plans are largest
GATHERED = {"llama": 2, "gpt2": 2, "bert": 2, "t5": 5, "mixtral": 1}  # inputs of a layer, in bf16


def config(family, layers):
    """Returns a model with so many layers; of T5 in the encoder and in the decoder."""
    common = {"model_type": family, "vocab_size": 4096, "max_position_embeddings": S, "num_hidden_layers": layers,
              "hidden_size": H, "intermediate_size": F, "num_attention_heads": HEADS}
    if family == "gpt2":
        return {"model_type": "gpt2", "n_layer": layers, "n_head": HEADS, "n_embd": H, "n_inner": F, "n_positions": S,
                "vocab_size": 4096}
    if family == "t5":
        return {"model_type": "t5", "num_layers": layers, "num_decoder_layers": layers, "d_model": H, "d_ff": F,
                "d_kv": H // HEADS, "num_heads": HEADS, "vocab_size": 4096, "feed_forward_proj": "relu"}
    if family == "bert":
        return {**common, "type_vocab_size": 2, "hidden_act": "gelu", "mask_token_id": 103}
    llama = {**common, "num_key_value_heads": KEYS, "hidden_act": "silu", "tie_word_embeddings": False}
    experts = {"num_local_experts": E, "num_experts_per_tok": K, "sliding_window": None}
    return {**llama, **experts} if family == "mixtral" else llama


def kept(family):
    """Returns the bytes of a layer per token and rank, times T."""
    statistics = 4 * HEADS  # log-sum-exp of attention
    if family == "gpt2" or family == "bert":  # stream, norms, QKV, attention; mean and deviation of two norms
        return (8 + 4 + 6 + 2) * H + 2 * 2 * F + statistics + 16
    if family == "t5":  # the decoder's layer has attention and a norm more; ReLU keeps its input and its result
        return (20 + 10 + 18 + 6) * H + 2 * 4 * F + 3 * statistics + 5 * 4
    attention = (8 + 2 + 2 + 2) * H + 4 * H * KEYS // HEADS + statistics + 8
    if family == "llama":
        return attention + 2 * H + 3 * 2 * F
    # Experts have whole rows, K for each token; partial sums of what they make stay in f32; gates stay, and gathered.
    return attention + 2 * H + K * (2 * T * H + 4 * T * H + 3 * 2 * F) + 4 * E + 4 * T * E


def report(family, device, layers, batch):
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(config(family, layers), file)
    command = ["tessera", "report", sys.argv[1], "--json", "--batch", str(batch), "--seq-length", str(S), "--mesh",
               f"tp={T}", "--sequence-parallel", "--precision", "bf16", "--device", device]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def gathered_again(plan):
    return sum(c["bytes_of_step"] for c in plan["collectives"]
               if (c["collective"], c["phase"], c["axes"]) == ("all_gather", "recompute", "tp")
               and c["bytes_of_call"] >= 2 * SMALL * S * H)


# A GPU keeps the same rows of experts.
for family, device in [*((family, "cpu") for family in GATHERED), ("mixtral", "cuda")]:
    count = GATHERED[family]
    plans = {(layers, batch): report(family, device, layers, batch) for layers in (2, 3) for batch in (SMALL, LARGE)}
    layer = {batch: plans[3, batch]["memory"]["by_kind"]["activations"] -
                    plans[2, batch]["memory"]["by_kind"]["activations"] for batch in (SMALL, LARGE)}
    tokens = (LARGE - SMALL) * S
    expect(f"bytes that a layer of {family} keeps on {device}", layer[LARGE] - layer[SMALL], "==",
           tokens * kept(family) // T)
    again = gathered_again(plans[3, SMALL]) - gathered_again(plans[2, SMALL])
    expect(f"bytes that a layer of {family} gathers again on {device}", again, "==", count * 2 * SMALL * S * H)
print("sequence parallel ok")
