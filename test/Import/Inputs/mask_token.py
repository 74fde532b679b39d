"""Imports a BERT beside several tokenizers and reads the mask token of the program, or the error."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

SCRATCH = pathlib.Path(sys.argv[1])
BERT = {"model_type": "bert", "vocab_size": 50, "hidden_size": 12, "intermediate_size": 20, "num_hidden_layers": 1,
        "num_attention_heads": 3}
WORDS = {"tokenizer.json": {"added_tokens": [{"id": 7, "content": "[MASK]"}], "model": {"vocab": {"[MASK]": 9, "<mask>": 11}}}}
LINES = {"vocab.txt": "[PAD]\n[UNK]\r\n[MASK]\nthe\n"}


def run(config, files, name="config.json", command=("import",)):
    """Returns the command's output for a folder with these files alone."""
    shutil.rmtree(SCRATCH)
    SCRATCH.mkdir()
    for file, content in {**files, name: {**BERT, **config}}.items():
        (SCRATCH / file).write_text(content if isinstance(content, str) else json.dumps(content))
    done = subprocess.run(["tessera", command[0], SCRATCH / name, *command[1:]], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(token, config, files, **more):
    code, text = run(config, files, **more)
    found = re.search(r"mask_token = (\d+)", text)
    assert code == 0 and found and int(found[1]) == token, (token, config, files, text[:300])


def refuse(error, config, files):
    code, text = run(config, files)
    assert code != 0 and error in text, (error, config, files, text[:300])


expect(5, {"mask_token_id": 5}, {**WORDS, **LINES})
expect(7, {}, {**WORDS, **LINES})
expect(7, {"vocab_size": 30522}, WORDS)
expect(11, {}, {**WORDS, "tokenizer_config.json": {"mask_token": "<mask>"}})
expect(11, {"mask_token_id": None}, {**WORDS, "tokenizer_config.json": {"mask_token": None},
                                     "special_tokens_map.json": {"mask_token": {"content": "<mask>"}}})
expect(2, {}, LINES)
expect(1, {}, {"tokenizer.json": {"model": {"type": "Unigram", "vocab": [["the", -1.5], ["[MASK]", 0.0]]}}})
expect(40, {}, {"vocab.txt": "[PAD]\nthe\n", "tokenizer_config.json": {"added_tokens_decoder": {"40": {"content": "[MASK]"}}}})
refuse("the mask token is not known", {}, {**LINES, "tokenizer_config.json": {"mask_token": None}})
for vocabulary in (30522, 28996, 119547, 105879, 21128):
    expect(103, {"vocab_size": vocabulary}, {})
# Another name than config.json is that of no folder of a model.
expect(103, {"vocab_size": 30522}, LINES, name="model.json")
refuse("the mask token is not known: the config has no 'mask_token_id'", {}, {})
refuse("the mask token is not known", {}, {"vocab.txt": "[PAD]\nthe\n"})
refuse("the mask token is not known", {"vocab_size": 30522}, {"tokenizer.json": {"model": {"vocab": {"the": 1}}}})
refuse("numbers '[MASK]' 7, but 'vocab_size' is 6", {"vocab_size": 6}, WORDS)
# To encode needs no mask.
code, text = run({}, {}, command=("compile", "--programs", "encode", "--seq-length", "8", "-o", SCRATCH / "model.tsr"))
assert code == 0, text
