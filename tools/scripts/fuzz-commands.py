"""Runs whole commands of tessera on files of every kind that are changed at random: structured changes of JSON, TOML, text
and binary files, two files at most in a run.

A run must end by itself with an exit code, within limits of time and memory, change no file but its outputs, and print
nothing that a terminal obeys; a changed artifact, which has a hash, must not be accepted. Anything else is a finding:
its files and command are kept in the folder of findings. Run INDEX of seed SEED is always the same.

Usage: fuzz-commands.py [--tessera PROGRAM] [--seed SEED] [--runs COUNT | --seconds SECONDS] [--jobs JOBS]
       [--findings FOLDER] [--only INDEX]
"""
import argparse
import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120  # seconds; a sanitized compilation on a busy machine takes a few
MEMORY = 6 << 30
OUTPUT = 64 << 20  # bytes of a file
SHORT = ["--batch", "2", "--seq-length", "8"]
TRAIN = ["--data", "data.bin", "--data-format", "uint16", "--steps", "1", "--warmup-steps", "0", *SHORT]

# A command, and the files that may be changed for it. OUT begins the names of what it may write.
RECIPES = [
    ("compile config.json -o OUT.tsr", ["config.json"]),
    ("report config.json", ["config.json"]),
    ("report llama.json --json", ["llama.json"]),
    ("report bert.json", ["bert.json"]),
    ("report t5.json", ["t5.json"]),
    ("report mixtral.json --mesh ep=2", ["mixtral.json"]),
    ("import config.json -o OUT.mlir", ["config.json"]),
    ("report config.json --plan plan.json", ["plan.json", "config.json"]),
    ("compile program.mlir -o OUT.tsr", ["program.mlir"]),
    ("report program.mlir --mesh dp=2,tp=2 --zero 1", ["program.mlir"]),
    ("report model.tsr --json", ["model.tsr"]),
    ("report model.tsr --html OUT.html", ["model.tsr"]),
    ("sign model.tsr --key key.pem -o OUT.tsr", ["model.tsr", "key.pem"]),
    ("train signed.tsr --trusted-key key.pub.pem --data data.bin --data-format uint16 --steps 1", ["signed.tsr", "key.pub.pem"]),
    ("simulate config.json --cluster cluster.toml", ["cluster.toml", "config.json"]),
    ("simulate config.json --cluster cluster.toml --measured trace.json", ["trace.json", "cluster.toml"]),
    ("plan config.json --cluster cluster.toml --gpus 2 --batch 4 -o OUT.json", ["cluster.toml", "config.json"]),
    ("explore config.json --cluster cluster.toml --json", ["config.json", "cluster.toml"]),
    ("verify config.json --mesh tp=2 --batch 2 --seq-length 4", ["config.json"]),
    ("train model.tsr --data data.bin --data-format uint16 --steps 1 --load-weights weights", ["weights/model.safetensors", "data.bin"]),
    ("train model.tsr --data data.bin --steps 1", ["data.bin"]),
    ("train model.tsr --data text.txt --steps 1 --data-format text --log OUT.jsonl", ["text.txt"]),
    ("train model.tsr --data data.bin --data-format uint16 --steps 2 --warmup-steps 0 --resume run",
     ["run/step-00000001/manifest.json", "run/step-00000001/model.safetensors", "run/step-00000001/config.json"]),
    ("generate config.json --load-weights weights --prompt-ids 1,2 --max-length 8 --max-new-tokens 3 --json",
     ["weights/model.safetensors", "config.json"]),
    ("generate folder --load-weights folder --prompt Hello --max-length 8 --max-new-tokens 3 --json",
     ["folder/tokenizer.json", "folder/generation_config.json", "folder/tokenizer_config.json", "folder/config.json"]),
    ("evaluate config.json --load-weights weights --choices questions.jsonl --json", ["questions.jsonl"]),
    ("tokenize text.txt --tokenizer tokenizer.json -o OUT.bin", ["tokenizer.json", "text.txt"]),
    ("tokenize documents.jsonl --tokenizer tokenizer.json --append-eod -o OUT.bin", ["documents.jsonl", "tokenizer.json"]),
    ("tokenize text.txt --tokenizer bert-tokenizer.json -o OUT.bin", ["bert-tokenizer.json", "text.txt"]),
    ("tokenize text.txt --tokenizer t5-tokenizer.json -o OUT.bin", ["t5-tokenizer.json", "text.txt"]),
    ("merge weights --adapter adapter -o OUT",
     ["adapter/adapter_config.json", "adapter/adapter_model.safetensors", "weights/model.safetensors", "weights/config.json"]),
    ("report config.json --mesh MUTATED --zero MUTATED", []),
    ("doctor --json", []),
]
EDGES = [0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64,
         0.5, 1e308, -0.0, 1e-320]
TEXTS = ["", "x" * 3000, "\x1b]0;t\x07", "\u009b2J", "\u202e", "\ud800", "\x00", "../../x", "/dev/zero", "/etc/passwd", "-o", "a\nerror: b", "é",
         "\U0001f600", "%s%n", "1e9", "nan", "gelu", "dp=2,tp=2", "'; touch x; '"]


class Changer:
    """Changes one file, by its kind."""

    def __init__(self, rng):
        self.rng = rng

    def value(self):
        """Returns a value at which readers go wrong."""
        rng = self.rng
        return rng.choice([None, True, False, [], {}, [[]], rng.choice(EDGES), rng.choice(EDGES), rng.choice(TEXTS),
                           self.nested(rng.choice([3, 63, 64, 65, 200])), [rng.choice(EDGES)] * rng.choice([1, 2, 500])])

    def nested(self, depth):
        result = self.rng.choice([[], {}, 1])
        for _ in range(depth):
            result = [result] if self.rng.random() < 0.5 else {"a": result}
        return result

    def json_places(self, root):
        places, stack = [], [root]
        while stack:
            value = stack.pop()
            keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
            for key in keys:
                places.append((value, key))
                stack.append(value[key])
        return places

    def json_value(self, root):
        rng = self.rng
        places = self.json_places(root)
        if not places:
            return self.value()
        # Most places of a vocabulary are alike; a member near the root counts more.
        near = [place for place in places if isinstance(place[0], dict) and len(place[0]) < 40] or places
        holder, key = rng.choice(near if rng.random() < 0.8 else places)
        old = holder[key]
        kind = rng.randrange(7)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, name = rng.choice(places)
            holder[key] = copy.deepcopy(other[name])
        elif kind == 2 and isinstance(old, (int, float)) and not isinstance(old, bool):
            holder[key] = rng.choice([old + 1, old - 1, -old, old * 2, old * 1000, old + 0.5, str(old), [old]])
        elif kind == 3 and isinstance(old, str):
            at = rng.randrange(len(old) + 1)
            holder[key] = rng.choice([old[:at] + rng.choice(TEXTS) + old[at:], old * rng.choice([2, 100]), old.upper(), old[:at]])
        elif kind == 4 and isinstance(holder, dict):
            holder[rng.choice([str(key) + "x", rng.choice(TEXTS), "model_type"])] = copy.deepcopy(old)
        elif kind == 5 and isinstance(old, list):
            holder[key] = old * rng.choice([0, 2, 50]) if len(old) < 1000 else old[:1]
        else:
            holder[key] = self.value()
        return root

    def json(self, text):
        rng = self.rng
        try:
            root = json.loads(text)
        except ValueError:
            return self.bytes(text)
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            root = self.json_value(root)
        made = json.dumps(root, ensure_ascii=rng.random() < 0.5)
        kind = rng.randrange(12)
        if kind == 0 and made.startswith("{") and len(made) > 2:  # a key twice
            key = re.match(r'\{("(?:[^"\\]|\\.)*"): ', made)
            if key:
                made = "{" + key.group(1) + ": " + json.dumps(self.value()) + ", " + made[1:]
        elif kind == 1:
            depth = rng.choice([100, 5000, 200000])
            made = made.replace(":", ": " + "[" * depth, 1) if rng.random() < 0.5 else "[" * depth + made + "]" * depth
        data = made.encode("utf-8", "surrogatepass")
        if kind == 2:
            data = rng.choice([b"\xef\xbb\xbf" + data, made.encode("utf-16", "surrogatepass"), data + b"\x00", data + b"}"])
        return data if kind != 3 else self.bytes(data)

    def jsonl(self, data):
        lines = data.split(b"\n")
        at = self.rng.randrange(len(lines))
        lines[at] = self.json(lines[at])
        return b"\n".join(lines)

    def safetensors(self, data):
        if self.rng.random() < 0.3 or len(data) < 8:
            return self.bytes(data)
        length = struct.unpack("<Q", data[:8])[0]
        header = self.json(data[8:8 + length])
        size = len(header) if self.rng.random() < 0.9 else self.rng.choice([0, 7, len(header) + 1, 2**32, 2**63, 2**64 - 1])
        return struct.pack("<Q", size) + header + data[8 + length:]

    def text(self, data):
        """Changes lines and numbers of TOML, MLIR and texts."""
        rng = self.rng
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        for _ in range(rng.choice([1, 1, 2, 4])):
            at = rng.randrange(len(lines))
            line = lines[at]
            kind = rng.randrange(9)
            numbers = list(re.finditer(r"-?\d+(\.\d+)?", line))
            strings = list(re.finditer(r'"[^"]*"', line))
            words = list(re.finditer(r"\w+", line))
            if kind == 0 and len(lines) > 1:
                del lines[at]
            elif kind == 1:
                lines.insert(at, lines[rng.randrange(len(lines))])
            elif kind == 2:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], line
            elif kind in (3, 4) and numbers:
                place = rng.choice(numbers)
                lines[at] = line[:place.start()] + str(rng.choice(EDGES)) + line[place.end():]
            elif kind == 5 and strings:
                place = rng.choice(strings)
                made = rng.choice(['"' + rng.choice(TEXTS).replace("\ud800", "\\ud800") + '"', "7", "true", "[1]", "{a = 1}", "unit", "@x"])
                lines[at] = line[:place.start()] + made + line[place.end():]
            elif kind == 6 and words:
                place, other = rng.choice(words), rng.choice(words)
                lines[at] = line[:place.start()] + other.group() + line[place.end():]
            elif kind == 7:
                lines[at] = rng.choice(["[" * 3000, "a" + ".a" * 3000 + " = 1", "{" * 500, line * 50, "[[x]]", "x = " + "[" * 2000 + "]" * 2000])
            else:
                place = rng.randrange(len(line) + 1)
                lines[at] = line[:place] + rng.choice(TEXTS + ["(", ")", "<", ">", "=", ",", "#"]).replace("\ud800", "?") + line[place:]
        made = "\n".join(lines).encode("utf-8", "surrogateescape")
        return made if rng.random() < 0.9 else self.bytes(made)

    def bytes(self, data):
        rng = self.rng
        data = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(len(data)) if data else 0
            kind = rng.randrange(7)
            if kind == 0 and data:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 1 and data:
                data[at] = rng.randrange(256)
            elif kind == 2:
                del data[at:at + rng.choice([1, 8, 100])]
            elif kind == 3:
                data[at:at] = data[at:at + rng.choice([1, 8, 100])]
            elif kind == 4:
                del data[at:]
            elif kind == 5:
                number = struct.pack("<Q", rng.choice([0, 1, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1]))
                length = rng.choice([1, 2, 4, 8])
                data[at:at + length] = number[:length]
            else:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 64])))
        return bytes(data)

    def file(self, path):
        data = path.read_bytes()
        kinds = {".json": self.json, ".jsonl": self.jsonl, ".safetensors": self.safetensors, ".toml": self.text, ".mlir": self.text,
                 ".txt": self.text, ".pem": self.text}
        made = kinds.get(path.suffix, self.bytes)(data)
        path.write_bytes(made)
        return made != data


def tessera(program, words, folder, limit=TIMEOUT):
    """Runs a command with limits; returns its exit code, None if it did not end, and what it printed."""
    sanitized = program.is_sanitized

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
        if not sanitized:  # whose shadow memory takes all addresses
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    # LLVM replaces the signal stack of AddressSanitizer, which then fails to free it when a thread ends.
    environment = {**os.environ, "LLVM_PROFILE_FILE": "/dev/null", "TMPDIR": str(folder.parent / "tmp"), "HOME": str(folder.parent / "tmp"),
                   "OMP_NUM_THREADS": "1",
                   "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "allow_user_poisoning=0:use_sigaltstack=0:detect_leaks=0:allocator_may_return_null=1:"
                   f"hard_rss_limit_mb={MEMORY >> 20}"}
    process = subprocess.Popen([program.path, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=limits, env=environment, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


class Program:
    def __init__(self, path):
        self.path = str(Path(path).resolve())
        with open(self.path, "rb") as file:
            self.is_sanitized = b"__asan_init" in file.read()


def make_files(program, folder):
    """Makes the files that are changed, made by the commands themselves."""
    folder.mkdir()
    (folder.parent / "tmp").mkdir(exist_ok=True)
    references = ROOT / "test/Runtime/tokenizer/reference"
    shutil.copy(ROOT / "test/Tools/Inputs/tiny/config.json", folder)
    for name, source in (("llama", "llama-grouped"), ("bert", "bert"), ("t5", "t5-tied"), ("mixtral", "mixtral")):
        shutil.copy(ROOT / f"test/Matrix/models/{source}.json", folder / f"{name}.json")
    shutil.copy(ROOT / "test/Tools/Inputs/cpu.toml", folder / "cluster.toml")
    for name, source in (("tokenizer.json", "gpt2"), ("bert-tokenizer.json", "bert"), ("t5-tokenizer.json", "t5")):
        shutil.copy(references / source / "tokenizer.json", folder / name)
    numbers = random.Random(1)
    (folder / "data.bin").write_bytes(b"".join(struct.pack("<H", numbers.randrange(100)) for _ in range(600)))
    (folder / "text.txt").write_text("The quick brown fox, Übung 名前 \U0001f600 is 1234 things.\n" * 8)
    (folder / "documents.jsonl").write_text('{"text": "one fox"}\n{"text": "another \\u00e9 \\ud83d\\ude00"}\n')
    (folder / "questions.jsonl").write_text('{"context": [1, 2], "choices": [[3], [4, 5]], "answer": 1}\n' * 2)

    def run(*words):
        code, output = tessera(program, words, folder, 600)
        if code != 0:
            sys.exit(f"fuzz-commands: cannot make files: {' '.join(words)} ends with {code}: {output.decode(errors='replace')[:8000]}")

    run("compile", "config.json", *SHORT, "-o", "model.tsr")
    run("import", "config.json", "-o", "program.mlir")
    run("train", "config.json", *TRAIN, "--checkpoint-dir", "run")
    (folder / "weights").mkdir()
    shutil.copy(folder / "run/step-00000001/model.safetensors", folder / "weights")
    shutil.copy(folder / "config.json", folder / "weights")
    shutil.copytree(folder / "weights", folder / "folder")
    (folder / "folder/config.json").write_text((folder / "config.json").read_text().replace("128", "910"))
    shutil.copy(folder / "tokenizer.json", folder / "folder")
    (folder / "folder/generation_config.json").write_text('{"temperature": 0.7, "top_k": 5, "top_p": 0.9, "do_sample": true, "eos_token_id": 0}')
    (folder / "folder/tokenizer_config.json").write_text('{"eos_token": "<|endoftext|>", "chat_template": "{{ messages }}", "model_max_length": 16}')
    run("train", "folder", *TRAIN, "--checkpoint-dir", "made")
    shutil.copy(folder / "made/step-00000001/model.safetensors", folder / "folder")
    shutil.rmtree(folder / "made")
    run("train", "config.json", *TRAIN, "--lora", "r=2,alpha=4,targets=c_attn", "--load-weights", "weights", "--checkpoint-dir", "made")
    (folder / "adapter").mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copy(folder / "made/step-00000001" / name, folder / "adapter")
    shutil.rmtree(folder / "made")
    run("train", "config.json", *TRAIN, "--trace", "trace.json")
    for command in ("genpkey -algorithm ed25519 -out key.pem", "pkey -in key.pem -pubout -out key.pub.pem"):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    run("sign", "model.tsr", "--key", "key.pem", "-o", "signed.tsr")
    plan = subprocess.run([sys.executable, ROOT / "test/Tools/Inputs/write_plan.py", ".", '{"mesh": "dp=2,tp=2", "batch": "8", "zero": "1"}'],
                          cwd=folder, stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "PATH": str(Path(program.path).parent) + os.pathsep + os.environ["PATH"], "LLVM_PROFILE_FILE": "/dev/null"})
    (folder / "plan.json").write_bytes(plan.stdout)


def state(folder):
    """Returns every file below a folder with what tells a change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (status.st_size, status.st_mtime_ns, status.st_mode, status.st_ino)
    return found


SYMPTOMS = re.compile(rb"AddressSanitizer|runtime error: |LeakSanitizer|Stack dump|PLEASE submit|terminate called|Assertion .* failed|internal error")
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def judge(code, output, before, after, words, changed):
    """Returns the fault of a run, or None."""
    if code is None:
        return f"no end within {TIMEOUT} s"
    if code < 0:
        return f"signal {-code}"
    if symptom := SYMPTOMS.search(output):
        return symptom.group().decode(errors="replace")
    if code not in (0, 1, 2, 75, 105, 106, 107, 108, 109):
        return f"exit code {code}"
    if code and b"error: " not in output and b"FAILED" not in output:
        return f"exit code {code} without an error"
    if len(output) > 1 << 20:
        return f"{len(output)} bytes of output"
    try:
        if hidden := HIDDEN.search(output.decode()):
            return f"prints {hidden.group()!r}"
    except UnicodeDecodeError as error:
        return f"prints bytes that are no text: {error}"
    others = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name) and not re.match(r"w/(OUT|run(/|$)|$)|w$|tmp$", name)]
    if others:
        return f"changes {others}"
    if code == 0 and any(name in changed for name in ("model.tsr", "signed.tsr")) and words[0] != "sign":
        return "accepts an artifact that was changed"
    return None


class Campaign:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.program = Program(options.tessera)
        self.original = scratch / "original"
        make_files(self.program, self.original)
        self.lock = threading.Lock()
        self.runs = self.accepted = self.findings = 0

    def run(self, index):
        rng = random.Random(f"{self.options.seed}:{index}")
        changer = Changer(rng)
        command, candidates = rng.choice(RECIPES)
        box = Path(tempfile.mkdtemp(dir=self.scratch))
        folder = box / "w"
        shutil.copytree(self.original, folder)
        (box / "tmp").mkdir()
        (box / "victim").write_text("precious")
        chosen = rng.sample(candidates, min(len(candidates), rng.choice([1, 1, 1, 2])))
        changed = [name for name in chosen if changer.file(folder / name)]
        words = [re.sub("MUTATED", lambda _: self.option(rng), word) for word in command.split()]
        before = state(box)
        code, output = tessera(self.program, words, folder)
        wrong = judge(code, output, before, state(box), words, changed)
        with self.lock:
            self.runs += 1
            self.accepted += code == 0
            if wrong:
                self.keep(index, wrong, words, folder, chosen, output)
        shutil.rmtree(box)

    @staticmethod
    def option(rng):
        return rng.choice(["dp=2", "tp=2,dp=2", "3", "0", "-1", rng.choice(TEXTS).replace("\x00", "").replace("\ud800", "") or "x", str(rng.choice(EDGES))])

    def keep(self, index, wrong, words, folder, chosen, output):
        self.findings += 1
        place = Path(self.options.findings) / f"{self.options.seed}-{index}"
        print(f"finding: {wrong}: tessera {' '.join(words)!a} with {chosen} changed; kept in {place}", flush=True)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name in chosen:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, place / name)
        (place / "command").write_text(repr(words) + "\n" + wrong + "\n")
        (place / "output").write_bytes(output[-200000:])

    def all(self):
        options = self.options
        end = time.monotonic() + options.seconds if options.seconds else None
        indices = iter([options.only] if options.only is not None else range(options.runs or sys.maxsize))

        def work():
            while end is None or time.monotonic() < end:
                with self.lock:
                    index = next(indices, None)
                if index is None:
                    return
                self.run(index)

        with ThreadPoolExecutor(options.jobs) as pool:
            for future in [pool.submit(work) for _ in range(options.jobs)]:
                future.result()
        print(f"fuzz-commands: {self.runs} runs with seed {options.seed}, {self.accepted} accepted, {self.runs - self.accepted} refused, "
              f"{self.findings} findings")
        return 1 if self.findings else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default=str(ROOT / "build/bin/tessera"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--findings", default=str(ROOT / "runs/fuzz/findings/Commands"))
    parser.add_argument("--only", type=int, help="the one run with this index")
    options = parser.parse_args()
    if options.runs is None and options.seconds is None and options.only is None:
        options.runs = 100
    with tempfile.TemporaryDirectory(prefix="fuzz-commands-") as scratch:
        sys.exit(Campaign(options, Path(scratch)).all())


main()
