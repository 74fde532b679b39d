"""Files of every kind whose names, keys and values command a terminal, and commands that read them.

Nothing that the commands print may hold a byte that a terminal obeys, or a line that a file wrote. Usage: hostile.py FOLDER TINY
TOKENIZER, a model's folder and a tokenizer's.
"""
import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys

# A title, the clipboard, CSI of eight bits as a character, a delete, an override of direction, a separator, and an error of
# its own making.
EVIL = "x\x1b]0;t\x07\x1b]52;c;cm0=\x07\u009b2J\x7f\u202e\u2028\u200b\rerror: faked\nerror: faked\x00"
NAME = EVIL.replace("\x00", "") + "'"
HIDDEN = [*range(0x00, 0x09), *range(0x0b, 0x20), *range(0x7f, 0xa0), 0x200b, 0x2028, 0x202e, 0x2066, 0xfeff]

folder, tiny, tokenizer = (pathlib.Path(part).resolve() for part in sys.argv[1:])
config = json.loads((tiny / "config.json").read_text())
failures = []


def check(what, text):
    """Checks that bytes that a command printed are text without commands, and that no line is a file's."""
    try:
        hidden = sorted({hex(ord(c)) for c in text.decode() if ord(c) in HIDDEN})
    except UnicodeDecodeError as error:
        hidden = [str(error)]
    if hidden:
        failures.append(f"{what} prints {hidden}: {text[:300]}")
    if any(line.strip().startswith(b"error: faked") for line in text.splitlines()):
        failures.append(f"{what} prints a line of a file: {text[:300]}")


def run(what, *words, fails=True, says=b"", terminal=False):
    """Runs tessera. The output must show that it met what is hostile: an escape, or what `says` names."""
    command = ["tessera", *map(str, words)]
    if terminal:
        master, slave = pty.openpty()
        process = subprocess.run(command, stdout=slave, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        text = text.replace(b"\r\n", b"\n") + process.stderr
    else:
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        text = process.stdout
    check(what, text)
    if (process.returncode != 0) != fails or process.returncode < 0:
        failures.append(f"{what} ends with {process.returncode}: {text[:300]}")
    if (says or b"\\x1b") not in text and (says or b"\\u001b") not in text:
        failures.append(f"{what} does not show what it met: {text[:300]}")
    if len(text) > 20000 and fails:
        failures.append(f"{what} prints {len(text)} bytes")


def write(name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def safetensors(tensors):
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header)) + header + bytes(64)


def configurations():
    run("model_type", "report", write("type.json", {**config, "model_type": EVIL}))
    run("a key", "report", write("key.json", {**config, "attention" + EVIL: 3, "n_head": EVIL}))
    run("a long value", "report", write("long.json", {**config, "model_type": EVIL * 20000}))
    run("an activation", "report", write("act.json", {**config, "activation_function": EVIL}))
    run("bytes that are no text", "report", write("bytes.json", b'{"model_type": "\x1b]0;t\x07\xff\x9b", '), says=b"error: ")
    run("a line of a file", "report", write("line.json", '{"model_type": "gpt2", "n_embd": \x1b]0;t\x07\u009b}'), says=b"error: ")


def programs():
    text = '"builtin.module"() ({ \x1b]0;t\x07\u009b2J\u202e'
    run("text of a program", "compile", write("text.mlir", text), "-o", folder / "x.tsr")
    run("a name of a program", "compile", write("name.mlir", 'func.func private @"a\\1B]0;t\\07\\C2\\9B\\0Aerror: faked"()\n' * 2), "-o",
        folder / "x.tsr")
    run("a location", "compile", write("place.mlir", 'module { func.func @f() { func.call @g() : () -> () loc("/dev/zero":1:1)\n return }}\n'), "-o",
        folder / "x.tsr", says=b"/dev/zero:1:1: error: ")


def passes():
    """Checks that tessera-opt is for a terminal what tessera is."""
    master, slave = pty.openpty()
    process = subprocess.run(["tessera-opt", folder / "name.mlir"], stdout=subprocess.DEVNULL, stderr=slave, check=False)
    os.close(slave)
    text = os.read(master, 65536).replace(b"\r\n", b"\n")
    check("tessera-opt", text.replace(b"\nerror: faked", b""))
    if process.returncode != 1 or b"\\x1b]0;t\\x07\\u009b" not in text:
        failures.append(f"tessera-opt ends with {process.returncode}: {text[:300]}")


def weights():
    model = folder / "model"
    shutil.copytree(tiny, model)
    good = {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}
    train = ("train", model, "--data", write("bytes.txt", "data " * 400), "--steps", 1, "--load-weights", model)
    for what, header in (("a tensor", {NAME: {**good, "shape": [3]}}), ("a type", {"a": {**good, "dtype": EVIL}}),
                         ("a long name", {NAME * 20000: {**good, "shape": [3]}})):
        write("model/model.safetensors", safetensors(header))
        run(what + " of safetensors", *train)
    (model / "model.safetensors").unlink()
    write("model/model.safetensors.index.json", {"weight_map": {NAME: NAME}})
    run("an index", *train)
    checkpoint = folder / "run"
    write("run/latest", NAME)
    run("the name of a checkpoint", "train", model, "--data", folder / "bytes.txt", "--steps", 1, "--checkpoint-dir", checkpoint,
        "--resume", checkpoint, says=b"error: ")
    write("manifest/step-00000001/manifest.json", {"format": 2, "producer": EVIL, EVIL: EVIL})
    write("manifest/latest", "step-00000001")
    run("a manifest", "train", model, "--data", folder / "bytes.txt", "--steps", 1, "--resume", folder / "manifest", says=b"error: ")


def tokenizers():
    text = json.loads((tokenizer / "tokenizer.json").read_text())
    for what, change in (("a part", {"model": {**text["model"], "type": EVIL}}), ("a decoder", {"decoder": {"type": EVIL}}),
                         ("a normalizer", {"normalizer": {"type": "Replace", "pattern": {"Regex": "(" + EVIL}, "content": ""}}),
                         ("a token", {"model": {**text["model"], "merges": [[NAME, NAME]]}})):
        path = write("tokenizer.json", {**text, **change})
        run(what + " of a tokenizer", "tokenize", folder / "bytes.txt", "--tokenizer", path, "-o", folder / "x.bin")


def others():
    run("a plan", "report", tiny, "--plan", write("plan.json", {"tessera_plan": 1, EVIL: EVIL, "options": {EVIL: EVIL}}))
    run("a cluster", "simulate", tiny, "--cluster", write("cluster.toml", 'name = "\\u001b]0;t\\u0007"\n["\\u001b\\u009b\\u202e"]\nx = 1\n'))
    questions = write("questions.jsonl", json.dumps({"context": [1], "choices": [[2]], "answer": EVIL, EVIL: EVIL}) + "\n")
    run("a question", "evaluate", tiny, "--load-weights", folder / "trained", "--choices", questions, says=b"error: ")
    run("a data file", "train", tiny, "--data", folder / NAME, "--steps", 1)
    data = write(NAME, "abc")
    run("a short data file", "train", tiny, "--data", data, "--steps", 1, "--data-format", "uint16")
    run("an option", "report", tiny, "--precision", NAME)
    run("a command", NAME)


def artifacts():
    artifact = folder / "a.tsr"
    subprocess.run(["tessera", "compile", tiny, "-o", artifact], stdout=subprocess.DEVNULL, check=True)
    data = artifact.read_bytes()
    # Metadata of the same length, in which the family is hostile.
    for family in (rb"\u001b\n", b"\xe2\x80\xae"):
        old = b'"family":"gpt2"'
        assert data.count(old) == 1
        # Its hash is of damage, which a stranger can compute; the error about it must be printable too.
        run("damaged metadata", "report", write("b.tsr", data.replace(old, b'"family":"' + family[:4] + b'"')), says=b"error: ")
    # A program names the family of its model, and its artifact tells it to every command.
    program = folder / "family.mlir"
    subprocess.run(["tessera", "import", tiny, "-o", program], stdout=subprocess.DEVNULL, check=True)
    text = program.read_text()
    assert text.count('family = "gpt2"') == 1
    program.write_text(text.replace('"gpt2"', '"g\\1B]0;t\\07\\C2\\9B\\E2\\80\\AE\\0Aerror: faked"', 1))
    run("a family", "compile", program, "-o", folder / "family.tsr", fails=False)
    run("metadata", "report", folder / "family.tsr", fails=False)
    run("metadata in training", "train", folder / "family.tsr", "--data", folder / "bytes.txt", "--steps", 1, fails=False)


def texts():
    """Checks that texts that a model makes are escaped for a terminal, and for a pipe are what they are."""
    model = folder / "trained"
    shutil.copytree(tiny, model)
    data = write("data.txt", "data " * 400)
    command = ["tessera", "train", model, "--data", data, "--steps", "1", "--batch", "1", "--seq-length", "8", "--warmup-steps", "0",
               "--checkpoint-dir", folder / "saved"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    shutil.copy(folder / "saved/step-00000001/model.safetensors", model)
    token = "\x1b]0;\u009b\u202e"
    vocabulary = {token + str(k): k for k in range(config["vocab_size"])}
    write("trained/tokenizer.json", {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
                                     "post_processor": None, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
                                     "model": {"type": "WordPiece", "unk_token": token + "0", "continuing_subword_prefix": "##",
                                               "max_input_chars_per_word": 100, "vocab": vocabulary}})
    generate = ("generate", model, "--load-weights", model, "--prompt-ids", "1,2", "--max-length", 8, "--max-new-tokens", 3)
    run("a text on a terminal", *generate, fails=False, terminal=True)
    run("a text in JSON", *generate, "--json", fails=False)
    piped = subprocess.run(["tessera", *map(str, generate)], stdout=subprocess.PIPE, check=True).stdout
    if token.encode() not in piped:
        failures.append(f"a text in a pipe is not what the model made: {piped}")


pathlib.Path(folder).mkdir(exist_ok=True)
for group in (configurations, programs, passes, weights, tokenizers, texts, others, artifacts):
    group()
if failures:
    sys.exit("\n".join(failures))
