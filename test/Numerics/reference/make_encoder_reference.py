#!/usr/bin/env python3
"""Makes encoded.safetensors in the folders that are named: what Hugging Face's `transformers` makes of the sequences in expected.json,
in float64; and filled.json in bert-padded.

    python3 make_encoder_reference.py bert bert-padded t5 t5-v1.1 t5-padded

Weights are those of weights.safetensors, the config is that of config.json or of test/models. Needs torch and transformers (made with 2.15 and 5.24);
nothing of Tessera is used. As in make_transformers_reference.py everything is computed in float64.

hidden                the last hidden states, [sequences, positions, hidden size]
log_probabilities     of BERT: log-softmax of the logits of BertForMaskedLM, [sequences, positions, vocabulary]
mean                  of the hidden states of each sequence's positions that are not padding, [sequences, hidden size]

filled.json is a list of texts with their ids, in which 36 is the mask; of each mask the position, and the three most probable
tokens with their probabilities, as the fill-mask pipeline has them; and the mean of the hidden states.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers

import make_reference as base
import make_transformers_reference as reference

HERE = pathlib.Path(__file__).parent
MASK, TEXTS = 36, ([5, 36, 7, 2], [36, 1, 36], [3, 1, 4, 1, 5, 9, 36, 6])


def class_of(folder):
    """Returns the class of the encoder; T5's leaves out the rest of a file."""
    return transformers.T5EncoderModel if folder.name.startswith("t5") else transformers.BertForMaskedLM


def weights_of(folder):
    """Loads a model as transformers reads its own files."""
    with tempfile.TemporaryDirectory() as copy:
        (pathlib.Path(copy) / "config.json").write_text(json.dumps(base.config_of(folder.name)))
        shutil.copy(folder / "weights.safetensors", pathlib.Path(copy) / "model.safetensors")
        model = class_of(folder).from_pretrained(copy, attn_implementation="eager")
    return model.config, model.state_dict()


def model_of(folder, config, weights):
    model = class_of(folder)(config).double()
    model.load_state_dict(weights)
    model.tie_weights()
    return model.double().eval()


def encode(folder, model):
    given = json.loads((folder / "expected.json").read_text())
    ids = torch.tensor(given["ids"])
    types = {"token_type_ids": torch.tensor(given["token_types"])} if "token_types" in given else {}
    sees = (ids != model.config.pad_token_id) if given.get("padding_mask") else torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        made = model(input_ids=ids, attention_mask=sees.long(), output_hidden_states=True, **types)
    hidden = made.hidden_states[-1]
    assert hidden.dtype == torch.float64
    mean = (hidden * sees[:, :, None]).sum(1) / sees.sum(1, keepdim=True)
    logits = {"log_probabilities": made.logits.log_softmax(-1)} if "logits" in made else {}
    base.save(folder / "encoded.safetensors", {"hidden": hidden, **logits, "mean": mean})


def fill(model, ids):
    with torch.no_grad():
        made = model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    masks = []
    for position in (k for k, token in enumerate(ids) if token == MASK):
        values, tokens = made.logits[0, position].softmax(-1).topk(3)
        masks.append({"position": position, "fillings": [list(pair) for pair in zip(tokens.tolist(), values.tolist())]})
    return {"ids": ids, "masks": masks, "embedding": made.hidden_states[-1][0].mean(0).tolist()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    folders = [HERE / name for name in sys.argv[1:]]
    stored = [weights_of(folder) for folder in folders]
    reference.compute_in_double()
    for folder, (config, weights) in zip(folders, stored):
        model = model_of(folder, config, weights)
        encode(folder, model)
        if folder.name == "bert-padded":
            (folder / "filled.json").write_text(json.dumps([fill(model, ids) for ids in TEXTS]) + "\n")
