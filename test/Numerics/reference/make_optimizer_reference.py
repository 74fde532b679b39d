#!/usr/bin/env python3
"""Makes optimizers/expected.json: what PyTorch's optimizers make of the model of make_reference.py, in float64.

SGD, AdamW and Muon are torch.optim's own (made with PyTorch 2.15), Muon in float64 where PyTorch rounds to bfloat16; Lion
is the program of its paper (Chen et al. 2023). Gradients are clipped to their global norm; matrices and tables decay. For
each way to train: its flags, the loss of every step and, after the last one, two numbers of each tensor: the sum of
x[k] cos(k + 1) and the sum of squares. The key part of attention's bias, whose gradient is 0 but for rounding, is left out.
"""
import inspect
import json
import sys

import torch

import make_reference as model

STEPS, TOTAL, CLIP = 3, 4, 1.0
WAYS = {
    "sgd": {"optimizer": "sgd"},
    "sgd-decay": {"optimizer": "sgd", "weight-decay": 0.1, "momentum": 0.8},
    "sgd-nesterov": {"optimizer": "sgd", "weight-decay": 0.05, "nesterov": "true"},
    "sgd-plain": {"optimizer": "sgd", "weight-decay": 0.1, "momentum": 0},
    "lion": {"optimizer": "lion"},
    "lion-betas": {"optimizer": "lion", "beta1": 0.8, "beta2": 0.9, "weight-decay": 0},
    "muon": {"optimizer": "muon"},
    "muon-momentum": {"optimizer": "muon", "momentum": 0.5, "weight-decay": 0, "beta2": 0.999},
}
RATES = {"sgd": 0.1, "lion": 1e-3, "muon": 1e-2}


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = torch.sign(first * m + (1 - first) * p.grad)
                self.state[p]["exp_avg"] = second * m + (1 - second) * p.grad
                p.sub_(group["lr"] * (update + group["weight_decay"] * p))


def use_double_in_muon():
    module = sys.modules["torch.optim._muon"]
    source = inspect.getsource(module._zeropower_via_newtonschulz)
    assert "torch.bfloat16" in source
    exec(source.replace("torch.bfloat16", "torch.float64"), module.__dict__)


def groups(p, decay):
    return [{"params": [x for x in p if x.dim() > 1], "weight_decay": decay},
            {"params": [x for x in p if x.dim() == 1], "weight_decay": 0.0}]


def optimizers(parameters, flags):
    kind, lr = flags["optimizer"], RATES[flags["optimizer"]]
    everything = groups(parameters.values(), flags.get("weight-decay", 0.0 if kind == "sgd" else 0.1))
    if kind == "sgd":
        momentum = flags.get("momentum", 0.9)
        return [torch.optim.SGD(everything, lr=lr, momentum=momentum, nesterov="nesterov" in flags)]
    betas = (flags.get("beta1", 0.9), flags.get("beta2", 0.99 if kind == "lion" else 0.95))
    if kind == "lion":
        return [Lion(everything, lr=lr, betas=betas, weight_decay=0.0)]
    matrices = [x for name, x in parameters.items() if ".h." in name and x.dim() == 2]
    decay = flags.get("weight-decay", 0.1)
    rest = groups([x for x in parameters.values() if not any(x is m for m in matrices)], decay)
    return [torch.optim.Muon(matrices, lr=lr, weight_decay=decay, momentum=flags.get("momentum", 0.95),
                             adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(rest, lr=lr, betas=betas, eps=1e-8, weight_decay=0.0)]


def fingerprint(name, x):
    x = x.detach().clone()
    if name.endswith("c_attn.bias"):
        x[len(x) // 3:2 * len(x) // 3] = 0
    x = x.flatten()
    return [float((x * torch.cos(torch.arange(len(x), dtype=torch.float64) + 1)).sum()), float((x * x).sum())]


def train(config, weights, tokens, flags):
    p = {name: w.double().requires_grad_() for name, w in weights.items()}
    everything = optimizers(p, flags)
    lr, losses = RATES[flags["optimizer"]], []
    for step in range(STEPS):
        share = 0.5 * (1 + model.math.cos(model.math.pi * step / TOTAL))
        value = model.loss(config, p, tokens)
        for x, gradient in zip(p.values(), torch.autograd.grad(value, list(p.values()))):
            x.grad = gradient
        norm = model.math.sqrt(sum(float((x.grad ** 2).sum()) for x in p.values()))
        for x in p.values():
            x.grad *= min(1.0, CLIP / norm)
        for optimizer in everything:
            for group in optimizer.param_groups:
                group["lr"] = lr * share
            optimizer.step()
        losses.append(float(value))
    tensors = {"parameter " + name: fingerprint(name, x) for name, x in p.items()}
    for name, x in p.items():
        for optimizer in everything:
            state = optimizer.state.get(x, {})
            for key, role in (("momentum_buffer", "moment1"), ("exp_avg", "moment1"), ("exp_avg_sq", "moment2")):
                if state.get(key) is not None:
                    tensors[f"{role} {name}"] = fingerprint(name, state[key])
    return {"flags": {k: str(v) for k, v in flags.items()}, "lr": lr, "losses": losses, "tensors": tensors}


def main():
    torch.set_num_threads(1)
    use_double_in_muon()
    config = model.config_of("gpt2")
    tokens = torch.tensor(json.loads((model.HERE / "gpt2" / "expected.json").read_text())["tokens"])
    weights = model.initial(config)
    first = json.loads((model.HERE / "gpt2" / "expected.json").read_text())["steps"][0]["loss"]
    same = model.loss(config, {name: w.double() for name, w in weights.items()}, tokens)
    assert abs(float(same) / first - 1) < 1e-12, "other weights than those of weights.safetensors"
    record = {"total_steps": TOTAL, "ways": {name: train(config, weights, tokens, flags) for name, flags in WAYS.items()}}
    (model.HERE / "optimizers" / "expected.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
