#!/usr/bin/env python3
"""Makes the files in the directories next to it: what Hugging Face's `transformers` computes for a config.json, in float64.

    python3 make_transformers_reference.py NAME..

A NAME is that of a file in test/models, whose dropout is left out, or one of FAMILIES. Of the latter, cases.json says on which
meshes ReferenceTest runs it; others run on those that their heads and experts allow.
Needs torch and transformers (made with 2.15 and 5.23); nothing of Tessera is used. transformers computes norms, softmax and
rotations in float32 whatever the model's type is; here that name means float64, so that all of it is. Hyperparameters,
AdamW and the files are those of make_reference.py:

config.json           as transformers wrote it; not of test/models
weights.safetensors   initial parameters, as transformers wrote them
expected.safetensors  "gradient.N.NAME" (before clipping) and "parameter.N.NAME" (after the update) of steps 1 and 2, F64
expected.json         tokens (of a masked model: ids, labels, token_types; of T5 and of answers: ids, labels; where it pads: segments), hyperparameters; loss, gradient norm and learning rate of both steps; whether attention stays within documents, or sees no padding
"""
import json
import math
import pathlib
import shutil
import sys
import tempfile

import torch

import make_reference as base

COMMON = {"vocab_size": 37, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 8, "rms_norm_eps": 1e-5}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "tie_word_embeddings": False}
THETA = {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}
# Configs beside those of test/models have rotations that are scaled in other ways, or data of other kinds.
FAMILIES = {
    "mistral-linear": ("MistralForCausalLM", "MistralConfig", {
        **COMMON, "num_key_value_heads": 4, "head_dim": 6, "sliding_window": 8, "tie_word_embeddings": False,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 100.0, "factor": 2.0}}),
    "qwen2-yarn": ("Qwen2ForCausalLM", "Qwen2Config", {
        **COMMON, "hidden_size": 32, "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "yarn", "rope_theta": 100.0, "factor": 2.0, "beta_slow": 0.1,
                            "original_max_position_embeddings": 4}}),
    # Fine-tuned on answers: labels of prompts and of padding are ignored.
    "llama-answers": ("LlamaForCausalLM", "LlamaConfig", {
        **COMMON, "tie_word_embeddings": True, "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    "t5-v1.1": ("T5ForConditionalGeneration", "T5Config", {
        "vocab_size": 37, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 1, "num_decoder_layers": 2, "num_heads": 4,
        "n_positions": 10, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 7, "dropout_rate": 0.0,
        "feed_forward_proj": "gated-gelu", "decoder_start_token_id": 0, "tie_word_embeddings": False}),
    # Documents that the token 2 ends are packed into sequences: a mask of blocks keeps them apart.
    "llama-packed": ("LlamaForCausalLM", "LlamaConfig", {
        **COMMON, "tie_word_embeddings": True, "eos_token_id": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    "gpt2-packed": ("GPT2LMHeadModel", "GPT2Config", {
        "vocab_size": 37, "n_positions": 8, "n_embd": 16, "n_layer": 1, "n_head": 4, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
        "attn_pdrop": 0.0, "bos_token_id": 2, "eos_token_id": 2}),
    # Sequences of different lengths: the token 0 is padding, which no attention sees.
    "bert-padded": ("BertForMaskedLM", "BertConfig", {
        "vocab_size": 37, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 4,
        "max_position_embeddings": 8, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "pad_token_id": 0}),
    "t5-padded": ("T5ForConditionalGeneration", "T5Config", {
        "vocab_size": 37, "d_model": 16, "d_kv": 4, "d_ff": 20, "num_layers": 1, "num_heads": 4, "n_positions": 10,
        "relative_attention_num_buckets": 8, "relative_attention_max_distance": 7, "dropout_rate": 0.0,
        "feed_forward_proj": "relu", "decoder_start_token_id": 0, "pad_token_id": 0}),
    # The load-balance loss counts no padding, whatever stands there.
    "mixtral-padded": ("MixtralForCausalLM", "MixtralConfig", {
        **COMMON, "num_hidden_layers": 2, "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False,
        "output_router_logits": True, "router_aux_loss_coef": 0.3, "pad_token_id": 0, "eos_token_id": 2,
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    # Looking up the token 20 gives its row of the table no gradient, but the row predicts, too. Two ranks split 37 rows at 19.
    "llama-padding": ("LlamaForCausalLM", "LlamaConfig", {
        **COMMON, "num_hidden_layers": 2, "tie_word_embeddings": True, "pad_token_id": 20,
        "rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    # Relatives of LLaMA, each with what it has of its own: norms of queries and keys, windows by layer, layers without rotation,
    # factors, experts.
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {
        **COMMON, "head_dim": 6, "tie_word_embeddings": False, "attention_bias": True, **THETA}),
    "qwen3-moe": ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", {
        **COMMON, **EXPERTS, "num_hidden_layers": 3, "norm_topk_prob": True, "mlp_only_layers": [1],
        "output_router_logits": True, "router_aux_loss_coef": 0.3, **THETA}),
    "qwen2-moe": ("Qwen2MoeForCausalLM", "Qwen2MoeConfig", {
        **COMMON, **EXPERTS, "shared_expert_intermediate_size": 14, **THETA}),
    "olmoe": ("OlmoeForCausalLM", "OlmoeConfig", {
        **COMMON, "num_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False, "pad_token_id": 1, "eos_token_id": 2, "output_router_logits": True, "router_aux_loss_coef": 0.3, **THETA}),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", {
        **COMMON, "num_hidden_layers": 2, "no_rope_layers": [1, 0], "use_sliding_window": True, "sliding_window": 3,
        "pad_token_id": 4, "bos_token_id": 5, "eos_token_id": 6, **THETA}),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", {**COMMON, "pad_token_id": 1, "eos_token_id": 2, **THETA}),
    "granite": ("GraniteForCausalLM", "GraniteConfig", {
        **COMMON, "tie_word_embeddings": True, "embedding_multiplier": 3.0, "residual_multiplier": 0.25,
        "attention_multiplier": 0.125, "logits_scaling": 2.0, **THETA}),
    "seed-oss": ("SeedOssForCausalLM", "SeedOssConfig", {
        **COMMON, "head_dim": 4, "attention_dropout": 0.0, "residual_dropout": 0.0, "tie_word_embeddings": False, **THETA}),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", {**COMMON, "head_dim": 6, "num_key_value_heads": 1, **THETA}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {
        **COMMON, "num_hidden_layers": 2, "head_dim": 6, "sliding_window": 3, "query_pre_attn_scalar": 5, "final_logit_softcapping": 2.0,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 100.0, "factor": 2.0},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 30.0}}}),
}
# Target tokens of T5, of whose labels an eighth is ignored.
TARGET = 8


def compute_in_double():
    torch.float = torch.float32 = torch.float64
    torch.Tensor.float = torch.Tensor.double


def randomize(model):
    """Larger than a real initialisation, so that every term of the model counts. Norm weights lie around 1."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, w in model.named_parameters():
            noise = torch.randn(w.shape, generator=generator, dtype=torch.float64)
            w.copy_(0.2 * noise + (w.dim() == 1 and name.lower().endswith("norm.weight")))


def batch(config, masked):
    """About a third of a masked model's labels counts, in each micro-batch another number of them. No token is padding, whose
    embedding gets no gradient in transformers."""
    generator = torch.Generator().manual_seed(3)
    shape = (base.BATCH, config.max_position_embeddings + (not masked))
    tokens = torch.randint(int(masked), config.vocab_size, shape, generator=generator)
    if not masked:
        if config.pad_token_id is not None:
            tokens[:, 1::3] = config.pad_token_id
        return {"tokens": tokens}
    counts = torch.rand(shape, generator=generator) < torch.linspace(0.1, 0.6, base.BATCH)[:, None]
    labels = torch.randint(config.vocab_size, shape, generator=generator).where(counts, torch.tensor(-100))
    return {"ids": tokens, "labels": labels, "token_types": torch.randint(2, shape, generator=generator)}


def pairs(config):
    """Sources and targets; a decoder reads its labels shifted right."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(config.vocab_size, (base.BATCH, config.n_positions), generator=generator)
    labels = torch.randint(config.vocab_size, (base.BATCH, TARGET), generator=generator)
    ignored = torch.rand(labels.shape, generator=generator) < 0.125
    return {"ids": ids, "labels": labels.where(~ignored, torch.tensor(-100))}


def answers(config):
    """Prompts of different lengths and padding after some answers, both with label -100; the third micro-batch of four has no label.
    Labels are where transformers has them, in the places of the ids."""
    generator = torch.Generator().manual_seed(3)
    length = config.max_position_embeddings
    ids = torch.randint(1, config.vocab_size, (base.BATCH, length), generator=generator)
    labels = ids.clone()
    for row in range(base.BATCH):
        labels[row, :1 + row % (length - 2)] = -100
        labels[row, length - row % 3:] = -100
    labels[base.BATCH // 2:base.BATCH * 3 // 4] = -100
    return {"ids": ids, "labels": labels}


def packed(config):
    """Documents of 1 to 4 tokens, of which the last is the separator; none is empty."""
    generator = torch.Generator().manual_seed(3)
    length = getattr(config, "n_positions", None) or config.max_position_embeddings
    tokens = torch.randint(3, config.vocab_size, (base.BATCH, length + 1), generator=generator)
    for row in range(base.BATCH):
        tokens[row, row % 4::2 + row % 3] = config.eos_token_id
    return {"tokens": tokens}


def padded(config, data):
    """The same with padding after tokens of different numbers, in one sequence none, and no label there."""
    lengths = torch.arange(base.BATCH)[:, None] % 5
    hidden = torch.arange(data["ids"].shape[1])[None] >= data["ids"].shape[1] - lengths
    data["ids"] = data["ids"].clamp(min=1).masked_fill(hidden, config.pad_token_id)
    ends = torch.arange(data["labels"].shape[1])[None] >= data["labels"].shape[1] - lengths.flip(0)
    ends = hidden if data["labels"].shape == data["ids"].shape else ends
    data["labels"] = data["labels"].masked_fill(ends, -100)
    return data


def block_mask(tokens, separator):
    """[batch, 1, queries, keys], 0 where a query sees a key: an earlier one of its document, which the separator ends."""
    ends = (tokens == separator).long()
    documents = ends.cumsum(1) - ends
    sees = (documents[:, :, None] == documents[:, None, :]).tril()
    return torch.zeros(sees.shape, dtype=torch.float64).masked_fill(~sees, float("-inf"))[:, None]


def shifted(labels):
    """Tessera's labels: each in the place of the token that it is predicted from."""
    return torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], -100)], dim=1)


def untie(model, family):
    """transformers 5 ties what a T5 v1.1 has apart unless it reads both from a file."""
    if family == "t5-v1.1":
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    return model


def loss(model, data, family):
    """Mean cross-entropy of the next token, or of the labels of a masked or encoder-decoder model; with experts plus the load-balance loss."""
    hidden = {"attention_mask": (data["ids"] != model.config.pad_token_id).long()} if "padded" in family else {}
    if "token_types" not in data and "labels" in data:
        return model(input_ids=data["ids"], labels=data["labels"], **hidden).loss
    if "labels" in data:
        return model(input_ids=data["ids"], token_type_ids=data["token_types"], labels=data["labels"], **hidden).loss
    tokens = data["tokens"][:, :-1]
    mask = block_mask(tokens, model.config.eos_token_id) if "packed" in family else None
    made = model(input_ids=tokens, attention_mask=mask)
    mean = -made.logits.log_softmax(-1).gather(-1, data["tokens"][:, 1:, None]).mean()
    balances = getattr(model.config, "output_router_logits", False)
    return mean + model.config.router_aux_loss_coef * made.aux_loss if balances else mean


def in_files(family, name, tensor):
    """Tensors under the names of files, those of all experts as one: transformers fuses in memory what it writes apart."""
    block, names = (".block_sparse_moe", ("w1", "w3", "w2")) if family.startswith("mixtral") else (
        ".mlp", ("gate_proj", "up_proj", "down_proj"))
    name = name.replace(".mlp.gate.", block + ".gate.")
    if name.endswith(".mlp.experts.gate_up_proj"):
        prefix = name.replace(".mlp.experts.gate_up_proj", block + ".experts.*.")
        gate, up = tensor.chunk(2, dim=1)
        return {f"{prefix}{names[0]}.weight": gate.contiguous(), f"{prefix}{names[1]}.weight": up.contiguous()}
    if name.endswith(".mlp.experts.down_proj"):
        return {name.replace(".mlp.experts.down_proj", f"{block}.experts.*.{names[2]}.weight"): tensor}
    return {name: tensor}


def train(model, data, family):
    p = dict(model.named_parameters())
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in p.items()}
    tensors, steps = {}, []
    for step in range(base.STEPS):
        value = loss(model, data, family)
        grads = dict(zip(p, torch.autograd.grad(value, list(p.values()))))
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads.values()))
        factor, lr = min(1.0, base.HYPER["clip"] / norm), base.learning_rate(step)
        with torch.no_grad():
            for name, w in p.items():
                base.adamw(w, factor * grads[name], *moments[name], step, lr)
                for key, part in in_files(family, name, grads[name]).items():
                    tensors[f"gradient.{step + 1}.{key}"] = part
                for key, part in in_files(family, name, w.detach().clone()).items():
                    tensors[f"parameter.{step + 1}.{key}"] = part
        steps.append({"loss": value.item(), "grad_norm": norm, "lr": lr})
    return tensors, steps


def open_config(family):
    """The class of a model, and its config."""
    import transformers
    if family in FAMILIES:
        architecture, configuration, keys = FAMILIES[family]
        made = getattr(transformers, configuration)(**keys)
    else:
        keys = base.config_of(family)
        architecture, made = keys["architectures"][0], transformers.AutoConfig.for_model(**keys)
    made._attn_implementation = made._experts_implementation = "eager"
    return getattr(transformers, architecture), made


def write_files(model, family):
    """weights.safetensors and config.json, as transformers writes them."""
    target = base.HERE / family
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        shutil.copy(pathlib.Path(scratch) / "model.safetensors", target / "weights.safetensors")
        text = (pathlib.Path(scratch) / "config.json").read_text()
    if family == "t5-v1.1":  # published files say false: transformers 5 writes true, and keeps the rest of it in a key of its own
        text = text.replace('"tie_word_embeddings": true', '"tie_word_embeddings": false')
        text = text.replace('  "scale_decoder_outputs": false,\n', "")
    if "bert" in family:  # transformers leaves this to the tokenizer
        text = text.replace('  "max_pos', '  "mask_token_id": 36,\n  "max_pos')
    if family in FAMILIES:
        (target / "config.json").write_text(text)


def make(family):
    architecture, config = open_config(family)
    model = untie(architecture(config), family)
    randomize(model)
    target = base.HERE / family
    target.mkdir(exist_ok=True)
    write_files(model, family)
    compute_in_double()
    weights = model.state_dict()
    model = untie(architecture(config).double(), family)
    model.load_state_dict(weights)
    data = (pairs(config) if config.is_encoder_decoder else answers(config) if family in ("llama-answers", "mixtral-padded")
            else packed(config) if "packed" in family else batch(config, "Masked" in architecture.__name__))
    data = padded(config, data) if "padded" in family else data
    tensors, steps = train(model, data, family)
    base.save(target / "expected.safetensors", tensors)
    record = {"hyperparameters": base.HYPER, "steps": steps, **{name: x.tolist() for name, x in data.items()}}
    if family in ("llama-answers", "mixtral-padded"):
        record.update(ignores_labels=True, labels=shifted(data["labels"]).tolist())
    masks = {"mixtral-padded": "document_mask", "packed": "document_mask", "padded": "padding_mask"}
    record.update(next(({mask: True} for name, mask in masks.items() if name in family), {}))
    if family == "mixtral-padded":
        record["segments"] = ((data["ids"] != config.pad_token_id).long() - 1).tolist()
    (target / "expected.json").write_text(json.dumps(record) + "\n")
    print(family, steps)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        make(name)
