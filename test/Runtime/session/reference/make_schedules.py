#!/usr/bin/env python3
"""Makes schedules.json: the learning rates of PyTorch's and transformers' schedulers.

Run it with torch and transformers installed; the tests need neither.

PyTorch's warm-up (LinearLR from 1/W to 1 in W - 1 steps) is Tessera's: step t, from 0, has lr (t + 1) / W. That of
transformers has lr t / W, so it is read one step later, and get_inverse_sqrt_schedule with it, whose steps count from 1
as those of Vaswani et al. do. CosineAnnealingLR rises again after its end, where its numbers therefore stop.
"""
import json
import warnings
from pathlib import Path

import torch
import transformers
from torch.optim import lr_scheduler as schedulers

HERE = Path(__file__).resolve().parent
LR, MIN_LR, TOTAL, BEYOND = 3e-3, 2e-4, 40, 4


def rates(make, steps):
    """Returns the learning rate of each step under the scheduler that `make` makes."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR)
    scheduler = make(optimizer)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def in_torch(warmup, parts):
    """Returns a warm-up, and then schedulers with the step at which each begins."""
    def make(optimizer):
        made = [part(optimizer) for _, part in parts]
        begins = [begin for begin, _ in parts]
        if warmup:
            start = schedulers.LinearLR(optimizer, 1 / warmup, 1, max(warmup - 1, 1))
            made, begins = [start] + made, [0] + begins
        return schedulers.SequentialLR(optimizer, made, begins[1:])
    return make


def falling(steps):
    return lambda optimizer: schedulers.LinearLR(optimizer, 1, MIN_LR / LR, steps)


def level(optimizer):
    return schedulers.ConstantLR(optimizer, 1, 1)


def cosine(steps):
    return lambda optimizer: schedulers.CosineAnnealingLR(optimizer, steps, MIN_LR)


def of_torch(warmup, decay):
    """Returns (kind, source, decay steps, smallest rate, rates) of each schedule."""
    stable = TOTAL - decay
    after = TOTAL - warmup
    for kind, source, parts, steps in [
            ("cosine", "CosineAnnealingLR", [(warmup, cosine(after))], TOTAL + 1),
            ("linear", "LinearLR", [(warmup, falling(after))], TOTAL + BEYOND),
            ("constant", "ConstantLR", [(warmup, level)], TOTAL + BEYOND),
            ("wsd", "ConstantLR, LinearLR", [(warmup, level), (stable, falling(decay))], TOTAL + BEYOND)]:
        yield kind, "torch: " + source, decay if kind == "wsd" else 0, MIN_LR, rates(in_torch(warmup, parts), steps)


def of_transformers(warmup, decay):
    share = MIN_LR / LR
    for kind, source, smallest, options in [
            ("cosine", "get_cosine_with_min_lr_schedule_with_warmup", MIN_LR,
             {"num_training_steps": TOTAL, "min_lr_rate": share}),
            ("linear", "get_linear_schedule_with_warmup", 0.0, {"num_training_steps": TOTAL}),
            ("constant", "get_constant_schedule_with_warmup", MIN_LR, {}),
            # With a smallest rate its warm-up would begin there.
            ("wsd", "get_wsd_schedule", 0.0,
             {"num_decay_steps": decay, "num_training_steps": TOTAL, "decay_type": "linear"}),
            ("inverse-sqrt", "get_inverse_sqrt_schedule", 0.0, {})]:
        scheduler = getattr(transformers, source)
        found = rates(lambda optimizer: scheduler(optimizer, num_warmup_steps=warmup, **options), TOTAL + BEYOND + 1)
        later = TOTAL + BEYOND if kind == "inverse-sqrt" else warmup
        found = [found[t + 1 if t < later else t] for t in range(TOTAL + 1 if kind == "cosine" else TOTAL + BEYOND)]
        yield kind, "transformers: " + source, decay if kind == "wsd" else 0, smallest, found


def main():
    warnings.filterwarnings("ignore")  # schedulers that are stepped inside others warn
    cases = []
    for warmup, decay in [(8, 10), (1, 32), (8, 32)]:
        for make in (of_torch, of_transformers):
            for kind, source, decays, smallest, found in make(warmup, decay):
                cases.append({"source": source, "kind": kind, "lr": LR, "min_lr": smallest, "warmup_steps": warmup,
                              "total_steps": TOTAL, "decay_steps": decays, "rates": found})
    record = {"torch": torch.__version__, "transformers": transformers.__version__, "cases": cases}
    lines = ",\n".join(json.dumps(case) for case in cases)
    record.pop("cases")
    (HERE / "schedules.json").write_text(json.dumps(record)[:-1] + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
