"""Texts end, and are drawn, as the files of a model say.

generation_config.py DIRECTORY CONFIG WEIGHTS
"""
import json
import pathlib
import subprocess
import sys

directory, config, weights = pathlib.Path(sys.argv[1]), json.load(open(sys.argv[2])), sys.argv[3]


def folder(name, generation=None, **more):
    path = directory / name
    path.mkdir()
    (path / "config.json").write_text(json.dumps({**config, **more}))
    if generation is not None:
        (path / "generation_config.json").write_text(json.dumps(generation))
    return path


def generate(model, *options):
    """Returns the tokens, how they ended, and what was said to the standard error."""
    fit = [] if str(model).endswith(".tsr") else ["--max-length", "16"]
    command = ["tessera", "generate", model, *fit, "--load-weights", weights, "--prompt-ids", "84,104,101", "--repetition-penalty", "100"]
    ran = subprocess.run([*command, "--json", *options], check=True, capture_output=True, text=True)
    found = json.loads(ran.stdout)
    last = len(found["tokens"]) - (found["ended"] == "stop")  # the end is no part of the text
    assert found["text"] == " ".join(map(str, found["tokens"][:last])), found
    return found["tokens"], found["ended"], ran.stderr


length = "--max-new-tokens", "8"
plain = folder("plain")
base, ended, said = generate(plain, *length)
assert len(base) == 8 and ended == "length" and not said, (base, said)
stop = next(token for token in base[1:] if token != base[0])
cut = base[: base.index(stop) + 1]  # with its end, as transformers has it
other = next(token for token in range(128) if token not in base)

assert generate(folder("number", eos_token_id=stop), *length) == (cut, "stop", "")
both = folder("both", {"eos_token_id": [other, stop]}, eos_token_id=base[0])
assert generate(both, *length) == (cut, "stop", "")
assert generate(both, *length, "--ignore-end")[:2] == (base, "length")
subprocess.run(["tessera", "compile", both, "--programs", "generate", "--max-length", "16", "-o", directory / "m.tsr"],
               check=True, stdout=subprocess.DEVNULL)
assert generate(directory / "m.tsr", *length) == (cut, "stop", "")
# The keys of config.json count only where there is no generation_config.json, like in transformers.
tokens, ended, said = generate(folder("unsaid", {"num_beams": 4}, eos_token_id=stop), *length)
assert (tokens, ended) == (base, "length")
assert said == "note: not followed of generation_config.json: num_beams 4, eos_token_id of config.json\n", said

draws = folder("draws", {"do_sample": True, "temperature": 0.9, "top_k": 9, "max_new_tokens": 8})
tokens, _, said = generate(draws, "--seed", "4")
assert said == "note: by generation_config.json: do_sample, temperature 0.9, top_k 9, max_new_tokens 8\n", said
wanted = generate(plain, *length, "--seed", "4", "--temperature", "0.9", "--top-k", "9")
assert (tokens, wanted[2]) == (wanted[0], "") and tokens != base, (tokens, wanted, base)
assert generate(draws, "--seed", "4", "--temperature", "0")[0] == base
tokens, _, said = generate(folder("greedy", {"temperature": 0.9, "top_k": 9}), *length, "--seed", "4")
assert tokens == base
assert said.startswith("note: generation_config.json says temperature 0.9, top_k 9, which counts for nothing"), said
print("as the files say")
