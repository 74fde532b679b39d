#!/usr/bin/env python3
"""Makes the files in gpt2: what an independent GPT-2 computes for test/models/gpt2.json without dropout, in float64.

A plain GPT-2 as Hugging Face's GPT2LMHeadModel defines it, and AdamW by its paper (Loshchilov and Hutter 2019) with
global gradient-norm clipping. Needs PyTorch (made with Debian's python3-torch 1.13); nothing of Tessera is used.

weights.safetensors   initial parameters under their names in `transformers`, F32
expected.safetensors  "gradient.N.NAME" (before clipping) and "parameter.N.NAME" (after the update) of steps 1 and 2, F64
expected.json         tokens, hyperparameters; loss, gradient norm and learning rate of both steps
"""
import json
import math
import pathlib
import struct

import torch

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parents[1] / "models"
BATCH, STEPS = 8, 2
HYPER = {"lr": 1e-3, "min_lr": 1e-4, "warmup_steps": 0, "total_steps": 4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8,
         "weight_decay": 0.1, "clip": 1.0}
DTYPES = {torch.float32: "F32", torch.float64: "F64"}


def config_of(name):
    """The config of a reference: that of test/models, in which nothing is dropped, or one of its own."""
    own = HERE / name / "config.json"
    config = json.loads((own if own.exists() else MODELS / f"{name}.json").read_text())
    return {key: 0.0 if "drop" in key and isinstance(value, float) else value for key, value in config.items()}


def shapes(config):
    """{name: shape}; Conv1D weights are [in, out]."""
    h, f = config["n_embd"], config["n_inner"]
    found = {"wte.weight": (config["vocab_size"], h), "wpe.weight": (config["n_positions"], h)}
    for layer in range(config["n_layer"]):
        parts = {"ln_1": (h, None), "attn.c_attn": (h, 3 * h), "attn.c_proj": (h, h), "ln_2": (h, None),
                 "mlp.c_fc": (h, f), "mlp.c_proj": (f, h)}
        for part, (rows, columns) in parts.items():
            found[f"h.{layer}.{part}.weight"] = (rows, columns) if columns else (rows,)
            found[f"h.{layer}.{part}.bias"] = (columns or rows,)
    found.update({"ln_f.weight": (h,), "ln_f.bias": (h,)})
    return {"transformer." + name: shape for name, shape in found.items()}


def initial(config):
    """Larger than a real initialisation, so that every term of the model counts. Norm weights lie around 1."""
    generator = torch.Generator().manual_seed(2)
    weights = {}
    for name, shape in shapes(config).items():
        noise = torch.randn(shape, generator=generator, dtype=torch.float64)
        weights[name] = (0.2 * noise + (".ln_" in name and name.endswith("weight"))).float()
    return weights


def layer_norm(x, p, name, epsilon):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / torch.sqrt(variance + epsilon) * p[name + ".weight"] + p[name + ".bias"]


def conv1d(x, p, name):
    return x @ p[name + ".weight"] + p[name + ".bias"]


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def attention(x, p, name, heads):
    batch, length, width = x.shape
    split = conv1d(x, p, name + ".c_attn").split(width, dim=-1)
    q, k, v = (y.view(batch, length, heads, width // heads).transpose(1, 2) for y in split)
    scores = q @ k.transpose(-1, -2) / math.sqrt(width // heads)
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -math.inf).softmax(-1)
    return conv1d((weights @ v).transpose(1, 2).reshape(batch, length, width), p, name + ".c_proj")


def loss(config, p, tokens):
    """Mean cross-entropy of the next token; the head is tied to the embedding."""
    ids, labels, epsilon = tokens[:, :-1], tokens[:, 1:], config["layer_norm_epsilon"]
    x = p["transformer.wte.weight"][ids] + p["transformer.wpe.weight"][:ids.shape[1]]
    for layer in range(config["n_layer"]):
        block = f"transformer.h.{layer}"
        x = x + attention(layer_norm(x, p, block + ".ln_1", epsilon), p, block + ".attn", config["n_head"])
        y = gelu_new(conv1d(layer_norm(x, p, block + ".ln_2", epsilon), p, block + ".mlp.c_fc"))
        x = x + conv1d(y, p, block + ".mlp.c_proj")
    logits = layer_norm(x, p, "transformer.ln_f", epsilon) @ p["transformer.wte.weight"].T
    return -logits.log_softmax(-1).gather(-1, labels[..., None]).mean()


def learning_rate(step):
    """Cosine from lr to min_lr; `step` counts from 0."""
    share = 0.5 * (1 + math.cos(math.pi * step / HYPER["total_steps"]))
    return HYPER["min_lr"] + share * (HYPER["lr"] - HYPER["min_lr"])


def adamw(p, g, m, v, step, lr):
    """Updates parameter and moments in place; `g` is clipped, `step` counts from 0. Matrices decay, vectors do not."""
    beta1, beta2 = HYPER["beta1"], HYPER["beta2"]
    m.mul_(beta1).add_((1 - beta1) * g)
    v.mul_(beta2).add_((1 - beta2) * g * g)
    update = m / (1 - beta1 ** (step + 1)) / (torch.sqrt(v / (1 - beta2 ** (step + 1))) + HYPER["eps"])
    decay = HYPER["weight_decay"] if p.dim() > 1 else 0.0
    p.sub_(lr * (update + decay * p))


def train(config, weights, tokens):
    p = {name: w.double().requires_grad_() for name, w in weights.items()}
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in p.items()}
    tensors, steps = {}, []
    for step in range(STEPS):
        value = loss(config, p, tokens)
        grads = dict(zip(p, torch.autograd.grad(value, list(p.values()))))
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads.values()))
        factor, lr = min(1.0, HYPER["clip"] / norm), learning_rate(step)
        with torch.no_grad():
            for name, w in p.items():
                adamw(w, factor * grads[name], *moments[name], step, lr)
                tensors[f"gradient.{step + 1}.{name}"] = grads[name]
                tensors[f"parameter.{step + 1}.{name}"] = w.detach().clone()
        steps.append({"loss": float(value), "grad_norm": norm, "lr": lr})
    return tensors, steps


def save(path, tensors):
    """safetensors: length of the header (8 bytes, little-endian), JSON header, data."""
    header, data = {}, b""
    for name, x in tensors.items():
        part = x.contiguous().numpy().tobytes()
        header[name] = {"dtype": DTYPES[x.dtype], "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.set_num_threads(1)
    config = config_of("gpt2")
    weights = initial(config)
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(config["vocab_size"], (BATCH, config["n_positions"] + 1), generator=generator)
    tensors, steps = train(config, weights, tokens)
    save(HERE / "gpt2" / "weights.safetensors", weights)
    save(HERE / "gpt2" / "expected.safetensors", tensors)
    record = {"hyperparameters": HYPER, "steps": steps, "tokens": tokens.tolist()}
    (HERE / "gpt2" / "expected.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
