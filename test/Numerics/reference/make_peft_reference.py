#!/usr/bin/env python3
"""Makes the directories lora-* next to it: what Hugging Face's `peft` computes for a model of another directory with a LoRA adapter, in float64.

    python3 make_peft_reference.py NAME..

Needs torch, transformers and peft (made with 2.15, 5.23 and 0.21); nothing of Tessera is used. Data, hyperparameters and AdamW
are those of the model's directory. A and B are random, so that every term counts.

adapter_model.safetensors, adapter_config.json   as peft wrote them
expected.safetensors   "gradient.N.NAME" (before clipping) and "parameter.N.NAME" (after the update) of steps 1 and 2, F64
expected.json          the data, hyperparameters; loss, gradient norm and learning rate of both steps; "merged_loss" of step 1
                       after merge_and_unload in float32
"""
import json
import pathlib
import sys

import safetensors.torch
import torch

import make_reference as base
import make_transformers_reference as transformed

# Rows and columns are split by tp; GPT-2 holds its matrices transposed, and T5 has a layer of each kind twice.
ADAPTERS = {
    "lora-gpt2": ("gpt2", "GPT2LMHeadModel", "GPT2Config", {"r": 3, "lora_alpha": 6, "target_modules": ["c_attn", "c_proj", "c_fc"],
                                                        "fan_in_fan_out": True, "task_type": "CAUSAL_LM"}),
    "lora-llama": ("llama", "LlamaForCausalLM", "LlamaConfig", {
        "r": 2, "lora_alpha": 3, "target_modules": ["q_proj", "v_proj", "o_proj", "down_proj"], "task_type": "CAUSAL_LM"}),
    "lora-t5": ("t5", "T5ForConditionalGeneration", "T5Config", {
        "r": 2, "lora_alpha": 4, "target_modules": ["q", "v", "wo"], "task_type": "SEQ_2_SEQ_LM"}),
    "lora-bert": ("bert", "BertForMaskedLM", "BertConfig", {"r": 2, "lora_alpha": 2, "target_modules": "all-linear"}),
}


def open_model(directory, weights, architecture, configuration):
    import transformers
    config = base.config_of(directory.name)
    config = getattr(transformers, configuration)(**config, attn_implementation="eager")
    model = getattr(transformers, architecture)(config)
    missing = model.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys and all("head" in key or "embed_tokens" in key or "decoder" in key
                                               for key in missing.missing_keys), missing
    model.tie_weights()
    return model


def loss(model, record):
    data = {name: torch.tensor(record[name]) for name in ("tokens", "ids", "labels", "token_types") if name in record}
    return transformed.loss(model, data)


def in_files(name):
    return name.replace(".default.", ".")


def train(model, record):
    p = {in_files(name): w for name, w in model.named_parameters() if w.requires_grad}
    assert all(".lora_" in name for name in p)
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in p.items()}
    tensors, steps = {}, []
    for step in range(base.STEPS):
        value = loss(model, record)
        grads = dict(zip(p, torch.autograd.grad(value, list(p.values()))))
        norm = sum(float((g * g).sum()) for g in grads.values()) ** 0.5
        factor, lr = min(1.0, base.HYPER["clip"] / norm), base.learning_rate(step)
        with torch.no_grad():
            for name, w in p.items():
                base.adamw(w, factor * grads[name], *moments[name], step, lr)
                tensors[f"gradient.{step + 1}.{name}"] = grads[name]
                tensors[f"parameter.{step + 1}.{name}"] = w.detach().clone()
        steps.append({"loss": value.item(), "grad_norm": norm, "lr": lr})
    return tensors, steps


def make(name):
    import peft
    of, architecture, configuration, keys = ADAPTERS[name]
    directory, target = base.HERE / of, base.HERE / name
    target.mkdir(exist_ok=True)
    record = json.loads((directory / "expected.json").read_text())
    opened = directory, safetensors.torch.load_file(directory / "weights.safetensors"), architecture, configuration
    model = peft.get_peft_model(open_model(*opened), peft.LoraConfig(**keys))
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for key, w in model.named_parameters():
            if w.requires_grad:
                w.copy_(0.2 * torch.randn(w.shape, generator=generator))
    model.save_pretrained(target)
    (target / "README.md").unlink(missing_ok=True)
    reopened = peft.PeftModel.from_pretrained(open_model(*opened), target)
    merged = loss(reopened.merge_and_unload(), record).item()
    transformed.compute_in_double()  # rotations are computed with the model
    weights = model.state_dict()
    model = peft.get_peft_model(open_model(*opened), peft.LoraConfig(**keys)).double()
    model.load_state_dict(weights)
    tensors, steps = train(model, record)
    base.save(target / "expected.safetensors", tensors)
    (target / "expected.json").write_text(json.dumps({**record, "steps": steps, "merged_loss": merged}) + "\n")
    print(name, steps, merged)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        make(name)
