#!/usr/bin/env python3
"""Compares the learning rates of a log with closed formulas.

rates.py LOG KIND LR MIN_LR WARMUP STEPS [DECAY]; the log holds steps 1 to STEPS.
"""
import json
import math
import sys


def expected(kind, number, lr, least, warmup, steps, decay):
    """Returns the rate of step `number`, from 1."""
    if number <= warmup:
        return lr * number / warmup
    if kind == "constant":
        return lr
    if kind == "inverse-sqrt":
        return max(least, lr * math.sqrt(warmup / number))
    begin = steps - decay if kind == "wsd" else warmup
    done = max(0, (number - 1 - begin) / (steps - begin))
    share = (1 + math.cos(math.pi * done)) / 2 if kind == "cosine" else 1 - done
    return least + share * (lr - least)


def main():
    log, kind = sys.argv[1:3]
    lr, least = map(float, sys.argv[3:5])
    warmup, steps, decay = (list(map(int, sys.argv[5:])) + [0])[:3]
    with open(log, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert [line["step"] for line in lines] == list(range(1, steps + 1)), lines
    for line in lines:
        rate = expected(kind, line["step"], lr, least, warmup, steps, decay)
        assert abs(line["lr"] - rate) <= 1e-12 * lr, (kind, line["step"], line["lr"], rate)
    print(f"{kind}: {steps} steps")


main()
