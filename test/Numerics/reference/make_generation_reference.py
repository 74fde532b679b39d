#!/usr/bin/env python3
"""Makes generated.json: what Hugging Face's `transformers` continues a prompt with, greedily, in float64.

    python3 make_generation_reference.py

Models are those of test/models that continue texts, and BESIDE. Weights are those of the directories next to it, but there is
room for 72 positions; GPT-2, which has a table of them, keeps its own. T5 reads the prompt as a source, and its positions are those of new texts. Needs torch and transformers (made with 2.15 and 5.23); nothing of Tessera is used. As in
make_transformers_reference.py everything is computed in float64. Per family: the positions, the prompt, the new tokens, and the
logarithm of each one's probability; the same, as "penalized", with a repetition penalty.
"""
import json
import pathlib
import shutil
import tempfile

import torch
import transformers

import make_reference as base
import make_transformers_reference as reference

HERE = pathlib.Path(__file__).parent
BESIDE = ("mistral-linear", "qwen2-yarn", "t5-v1.1", "qwen3", "qwen3-moe", "qwen2-moe", "olmoe", "smollm3", "olmo2", "granite", "seed-oss",
          "gemma", "gemma3")
POSITIONS, PROMPT, PENALTY = 72, [3, 1, 4, 1, 5, 9, 2, 6], 1.3


def families():
    names = sorted(path.stem for path in base.MODELS.glob("*.json"))
    return [name for name in names if "mask_token_id" not in base.config_of(name)] + list(BESIDE)


def config_of(family):
    config = transformers.AutoConfig.for_model(**base.config_of(family))
    if not has_table(config) and not config.is_encoder_decoder:
        config.max_position_embeddings = POSITIONS
    return config


def has_table(config):
    """Returns whether the model has a table of positions, whose rows are weights."""
    return config.model_type == "gpt2"


def class_of(config):
    return transformers.T5ForConditionalGeneration if config.is_encoder_decoder else transformers.AutoModelForCausalLM


def weights_of(family):
    """Loads a model as transformers reads its own files."""
    config = config_of(family)
    with tempfile.TemporaryDirectory() as copy:
        config.save_pretrained(copy)
        shutil.copy(HERE / family / "weights.safetensors", pathlib.Path(copy) / "model.safetensors")
        return class_of(config).from_pretrained(copy).state_dict()


def model_of(family, weights):
    config = config_of(family)
    config._attn_implementation = config._experts_implementation = "eager"
    if config.is_encoder_decoder:
        model = reference.untie(transformers.T5ForConditionalGeneration(config).double(), family)
    else:
        model = transformers.AutoModelForCausalLM.from_config(config).double()
    model.load_state_dict(weights)
    if family != "t5-v1.1":
        model.tie_weights()
    return model.double().eval(), config.n_positions if has_table(config) else POSITIONS


def logits_of(model, ids):
    """After a text; of a model with an encoder the prompt is its source."""
    if model.config.is_encoder_decoder:
        return model(input_ids=torch.tensor([PROMPT]), decoder_input_ids=ids, use_cache=False).logits[:, -1]
    return model(ids, use_cache=False).logits[:, -1]


def continue_prompt(model, positions, penalty):
    penalize = transformers.RepetitionPenaltyLogitsProcessor(penalty=penalty)
    given = [model.config.decoder_start_token_id] if model.config.is_encoder_decoder else PROMPT
    tokens, logs = list(given), []
    with torch.no_grad():
        while len(tokens) < positions:
            ids = torch.tensor([tokens])
            logits = penalize(ids, logits_of(model, ids))[0]
            assert logits.dtype == torch.float64
            best = torch.topk(logits, 2).values
            assert best[0] - best[1] > 1e-6, "too close to compare"
            tokens.append(int(logits.argmax()))
            logs.append(float(torch.log_softmax(logits, -1)[tokens[-1]]))
    return {"tokens": tokens[len(given):], "log_probabilities": logs}


def generate(family, weights):
    model, positions = model_of(family, weights)
    penalized = {"penalty": PENALTY, **continue_prompt(model, positions, PENALTY)}
    return {"positions": positions, "prompt": PROMPT, **continue_prompt(model, positions, 1.0), "penalized": penalized}


if __name__ == "__main__":
    torch.set_num_threads(1)
    # Files name types that are others from here on.
    weights = {family: weights_of(family) for family in families()}
    reference.compute_in_double()
    text = json.dumps({family: generate(family, weights[family]) for family in weights})
    (HERE / "generated.json").write_text(text.replace('}}, "', '}},\n "') + "\n")
