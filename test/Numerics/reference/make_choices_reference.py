#!/usr/bin/env python3
"""Makes choices.jsonl, choices.json and choices-texts.json: how probable choices are to Hugging Face's `transformers`, in float64.

    python3 make_choices_reference.py

Questions are random tokens. Per family of choices.json and choice: the logarithm of the probability of its tokens after the
prompt's, from one forward pass over both, and how many of them have the largest logit; then acc and acc_norm as
lm-evaluation-harness defines them, the latter here by tokens. choices-texts.json has questions in words and the tokens that a
tokenizer of `transformers` makes of them, cut as lm-evaluation-harness does. Needs torch and transformers (made with 2.15 and
5.23); nothing of Tessera is used.
"""
import json
import pathlib
import random

import torch
import transformers

import make_generation_reference as generation
import make_transformers_reference as reference

HERE = pathlib.Path(__file__).parent
FAMILIES = ("gpt2", "llama", "mistral", "mixtral")
TOKENIZER = HERE.parents[1] / "Runtime" / "tokenizer" / "reference" / "gpt2"
VOCABULARY, TEXT = 29, 8   # less than any family has
TEXTS = [{"prompt": "The runtime of the ", "choices": ["program", " compiler and its tests"], "answer": 0},
         {"prompt": "A rank:\n", "choices": ["sends.", " waits for \u00e9t\u00e9."], "answer": 1},
         {"prompt": "", "choices": ["Memory", "Time"], "answer": 0}]


def questions():
    draw, found = random.Random(7), []
    tokens = lambda count: [draw.randrange(VOCABULARY) for _ in range(count)]
    for _ in range(6):
        prompt = tokens(draw.randint(1, 4))
        choices = [tokens(draw.randint(1, TEXT - len(prompt))) for _ in range(draw.randint(2, 4))]
        found.append({"prompt": prompt, "choices": choices, "answer": draw.randrange(len(choices))})
    return found


def score(model, prompt, choice):
    with torch.no_grad():
        logits = model(torch.tensor([prompt + choice]), use_cache=False).logits[0, len(prompt) - 1:-1]
    assert logits.dtype == torch.float64
    logs = torch.log_softmax(logits, -1)[torch.arange(len(choice)), choice]
    return float(logs.sum()), int((logits.argmax(-1) == torch.tensor(choice)).sum())


def accuracy(all_questions, values):
    best = [max(range(len(own)), key=own.__getitem__) for own in values]
    return sum(k == question["answer"] for k, question in zip(best, all_questions)) / len(best)


def expected(family, weights, asked):
    model, _ = generation.model_of(family, weights)
    scores = [[score(model, question["prompt"], choice) for choice in question["choices"]] for question in asked]
    logs = [[log for log, _ in own] for own in scores]
    mean = [[log / len(choice) for log, choice in zip(own, question["choices"])] for own, question in zip(logs, asked)]
    return {"acc": accuracy(asked, logs), "acc_norm": accuracy(asked, mean), "log_probabilities": logs,
            "predicted_tokens": [[count for _, count in own] for own in scores]}


def tokens_of(tokenizer, question):
    """Encodes a pair as lm_eval's _encode_pair does: white space that ends the prompt begins the choice; no prompt is
    the end of another text."""
    encode = lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]
    prompt = question["prompt"].rstrip()
    given = encode(prompt) or [tokenizer.eos_token_id]
    begin = len(encode(prompt))
    return {**question, "prompt": given, "choices": [encode(question["prompt"] + c)[begin:] for c in question["choices"]]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    asked = questions()
    (HERE / "choices.jsonl").write_text("".join(json.dumps(question) + "\n" for question in asked))
    tokenizer = transformers.AutoTokenizer.from_pretrained(TOKENIZER)
    texts = [{"text": question, "tokens": tokens_of(tokenizer, question)} for question in TEXTS]
    (HERE / "choices-texts.json").write_text(json.dumps(texts).replace('}}, {"text"', '}},\n {"text"') + "\n")
    weights = {family: generation.weights_of(family) for family in FAMILIES}
    reference.compute_in_double()
    text = json.dumps({family: expected(family, weights[family], asked) for family in FAMILIES})
    (HERE / "choices.json").write_text(text.replace('}, "', '},\n "') + "\n")
