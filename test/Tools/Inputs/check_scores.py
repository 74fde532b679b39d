"""Checks that attention takes longer in the layers that make stored scores again: check_scores.py GPT2 T5 CLUSTER

GPT2 has two layers, T5 two in each stack.
"""
import json
import subprocess
import sys

gpt2, t5, cluster = sys.argv[1:]


def attention(model, options):
    command = ["tessera", "simulate", model, "--device", "cuda", "--precision", "bf16", "--no-evaluation", "--cluster",
               cluster, "--json"] + options.split()
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)["stages"][0]["seconds"]["attention"]


def assert_equal(a, b):
    assert abs(a - b) < 1e-12, (a, b)


none, cheap = attention(gpt2, "--recompute none"), attention(gpt2, "--recompute selective")
assert none < cheap, (none, cheap)
# One layer of two.
assert_equal(attention(gpt2, "--layer-recompute 0=selective"), (none + cheap) / 2)
# The layers that are not among the first recompute what is cheap.
first = attention(gpt2, "--recompute full --recompute-layers 1")
assert_equal(first, attention(gpt2, "--recompute full --layer-recompute 1=selective"))
assert first != attention(gpt2, "--recompute full --layer-recompute 1=none"), first

# An encoder layer has one attention, a decoder layer two.
none, cheap = attention(t5, "--recompute none"), attention(t5, "--recompute selective")
encoder = attention(t5, "--layer-recompute 1=selective") - none
decoder = attention(t5, "--layer-recompute 3=selective") - none
assert 0 < encoder < decoder, (encoder, decoder)
assert_equal(2 * (encoder + decoder), cheap - none)
