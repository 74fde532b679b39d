"""Opens what run.sh exports in transformers and compares the perplexity of what was held out with Tessera's.

    open_in_transformers.py EXPORT DATA EVALUATION.json      (DATA.bin and DATA.idx; needs: pip install torch transformers)
"""
import json
import math
import sys

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

HELD_OUT = 0.05
LARGEST_DIFFERENCE = 1e-4  # relative difference of the perplexities


def held_out(data):
    """Returns the tokens of the last documents, as --validation-fraction cuts them off."""
    index = open(data + ".idx", "rb").read()
    documents = int.from_bytes(index[18:26], "little")
    ends = numpy.cumsum(numpy.frombuffer(index, "<i4", documents, 34))
    begins = numpy.concatenate([[0], ends[:-1]])
    cut = begins[numpy.abs(begins - (1 - HELD_OUT) * ends[-1]).argmin()]
    return numpy.fromfile(data + ".bin", "<u2")[cut:].astype("int64")


def main():
    export, data, evaluation = sys.argv[1:]
    model = AutoModelForCausalLM.from_pretrained(export, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(export)
    tokens = torch.from_numpy(held_out(data))
    length = model.config.n_positions
    labels = (len(tokens) - 1) // length * length
    total = 0.0
    with torch.no_grad():
        for first in range(0, labels, 8 * length):
            last = min(first + 8 * length, labels)
            logits = model(tokens[first:last].view(-1, length)).logits
            targets = tokens[first + 1:last + 1]
            total += torch.nn.functional.cross_entropy(logits.double().flatten(0, 1), targets, reduction="sum").item()
    ours = json.load(open(evaluation))
    perplexity = math.exp(total / labels)
    difference = abs(perplexity / ours["perplexity"] - 1)
    print(f"perplexity of {labels} labels: {perplexity:.6f} in transformers, {ours['perplexity']:.6f} in Tessera")
    if labels != ours["labels"] or not difference < LARGEST_DIFFERENCE:
        sys.exit(f"they differ by {difference:.2g}, Tessera had {ours['labels']} labels")
    print(f"the same to {difference:.1g}")
    prompt = tokenizer("=head1 DESCRIPTION\n\nThis", return_tensors="pt").input_ids
    text = model.generate(prompt, max_length=min(80, length), do_sample=False, pad_token_id=tokenizer.eos_token_id)
    print("it goes on like this:\n" + tokenizer.decode(text[0]))


main()
