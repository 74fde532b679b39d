"""Runs the command lines that --help shows, and finds one for each of its options, that are not refused.

A command line is accepted if what is wrong is no more than a file that does not exist: the options are checked before.
"""
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Commands need these words besides an example or an option; one of several must be accepted. doctor is left out: it has
# no option but --json, with which doctor.test runs it.
BASES = {
    "import": ("none.json",),
    "compile": ("none.json",),
    "sign": ("none.tsr --key none.pem",),
    "merge": ("none --adapter none -o merged",),
    "report": ("none.json",),
    "simulate": ("none.json --cluster none.toml",),
    "calibrate": ("-o none/machine.toml",),
    "plan": ("none.json --cluster none.toml --global-batch 8", "none.json --cluster none.toml"),
    "explore": ("none.json --html page.html", "none.json"),
    "verify": ("none.json",),
    "tokenize": ("none.txt --tokenizer none -o none/data.bin",),
    "train": ("none.json --data none.txt", "none.tsr --data none.txt"),
    "evaluate": ("none.json --data none.txt", "none.json --choices none.jsonl", "none.tsr --data none.txt"),
    "generate": ("none.json --prompt text", "none.tsr --prompt text"),
    "encode": ("none.json --text text", "none.tsr --text text"),
}

# Commands that check a plan as another one does: what help shows of both is checked there.
ALIKE = {"report": "compile", "simulate": "compile"}

# Options that go together. A command takes of a line what its help shows.
PLANS = (
    "--seq-length 8 --decoder-seq-length 4 --batch 8 --micro-batches 2 --ignore-labels --document-mask --separator 1 "
    "--padding-mask --special-ids 0,2 --freeze * --mesh dp=2,tp=2 --ranks 4 --sequence-parallel --replicated-layers 0 "
    "--zero 1 --precision bf16 --recompute full --recompute-layers 1 --layer-recompute 0=none --memory-limit 1GiB "
    "--bucket-size 1MiB --no-overlap --device cuda --cpu native --no-gemm-epilogues --optimizer muon "
    "--weight-decay 0.1 --no-decay * --clip 1 --beta1 0.5 --beta2 0.5 --momentum 0.5 --lr 1e-3 --lr-schedule wsd "
    "--min-lr 1e-4 --warmup-steps 1 --decay-steps 1 --steps 9 --dump-ir ir --reproducer r.mlir --poison-padding",
    "--mesh pp=2 --schedule interleaved --virtual-stages 2 --stages 1,1,1,1 --micro-batches 2 --lora targets=a "
    "--optimizer sgd --nesterov --no-evaluation",
    "--mesh cp=2,ep=2 --context-parallel ring --expert-buffer 1 --recompute auto --memory-limit 1GiB",
    "--mesh dp=2 --dp-sync parameter-server",
    "--mesh dp=2 --layout-invariant=4",
    "--tensor-model-parallel-size 2 --data-parallel-size 2 --pipeline-model-parallel-size 2 --schedule zero-bubble",
    "--programs generate --max-batch 8 --max-length 8 --prefill-chunk 4 --candidates 8 --weights int8",
    "--programs train,generate --max-batch 8 --prefill-chunk 4 --candidates 8",
    "--programs encode --max-predictions 4 --weights int8",
)
LINES = (
    "--data none.bin:0.5 other.bin:0.5 --data-format uint16 --seed 7 --eval-data none.txt --eval-every 2 "
    "--eval-batches 2 --tokenizer none --keep-best --early-stop 2 --checkpoint-dir run --save-every 2 --keep 2 "
    "--max-shard-size 1GiB --resume-if-any --change-data --log log --tensorboard events --peak-flops 1e12 "
    "--trace trace --html page --cluster none.toml --communicator threads --timeout-ms 9 --save-timeout-ms 9 "
    "--trust-network --allow-mixed-cpus --rendezvous-timeout-ms 9 --threads 2 --max-bad-steps 2 --secret-file key",
    "--sample-every 2 --sample-prompt text --load-weights none --lora targets=a --load-adapter none --epochs 2 "
    "--validation-fraction 0.5",
    "--checkpoint-dir run --resume",
    "--plan none",
    "--prompt-ids 1,2 --max-new-tokens 2 --stop text --ignore-end --tokenizer none --temperature 1 --top-k 2 "
    "--top-p 0.5 --min-p 0.5 --repetition-penalty 2 --seed 2 --times --log-probabilities 2 --json --load-weights none",
    "--text-ids 1,2 --fillings 2 --embed --pooling max --normalize --tokenizer none --json --load-weights none",
    "--model none --no-special-tokens --documents jsonl --json-key a --append-eod --strict --format llmc",
    "--gpus 2 --objective cost --evaluations 2 --plans 2 --tokens 9 --html page --threads 2 --json -o plan.json",
    "--explain plan.json plan.json",
)

SWITCHED = re.compile(r"^--\[no-\](.*)")


def parse(help_text):
    """Returns the examples, each without "tessera COMMAND", and the options with their values."""
    examples, options = [], {}
    lines = help_text.splitlines()
    for number, line in enumerate(lines):
        start = re.match(r"Example: tessera \S+|  e\.g\. ", line)
        if start:
            rest = [line[start.end():]]
            for more in lines[number + 1:]:
                if not more.startswith("       ") or more.startswith(" " * 20):
                    break
                rest.append(more)
            examples.append(" ".join(part.strip() for part in rest))
        row = re.match(r"  (-\S*)( [^ ]\S*)?", line)
        if row and not line.startswith("  -h,"):
            options[row.group(1).split(",")[0]] = (row.group(2) or "").strip()
    return examples, options


def guess(value):
    """Returns a value for an option that no line has."""
    choices = value.split("|")
    return {"": [], "INT": ["2"], "FLOAT": ["0.5"], "SIZE": ["1GiB"]}.get(value, [choices[-1] if "|" in value else "none"])


def groups(words):
    """Splits words before each option: [["none.json"], ["--data", "a", "b"]]."""
    found = [[]]
    for word in words:
        if word.startswith("-"):
            found.append([])
        found[-1].append(word)
    return found


def joined(base, words):
    """Returns words behind a base, without the options that both have."""
    given = [group[0] for group in groups(words)[1:]]
    model, *options = groups(shlex.split(base))
    model = groups(words)[0] or model
    return model + [word for group in options if group[0] not in given for word in group] + \
        [word for group in groups(words)[1:] for word in group]


def problem_of(command, words):
    if command == "calibrate":  # it must not run
        words = [f"none/{word}" if word.endswith(".toml") and "/" not in word else word for word in words]
    environment = dict(os.environ)
    if {"tcp", "mpi", "--rendezvous"} & set(words):
        environment.update(RANK="0", WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="29400")
    result = subprocess.run(["tessera", command, *words], capture_output=True, text=True, env=environment, check=False,
                            close_fds=False)  # starts twice as fast
    error = result.stderr.split("\n")[0]
    isAccepted = re.search("does not exist|there is no directory|No such file", error)
    return "" if isAccepted else f"tessera {command} {shlex.join(words)}: {error}"


def first_problem(command, words):
    """Returns why no base accepts the words, or ""."""
    problems = []
    for base in BASES[command]:
        problems.append(problem_of(command, joined(base, words)))
        if not problems[-1]:
            return ""
    return problems[0]


def shown(options, line):
    """Returns the part of a line whose options a command shows."""
    def known(option):
        name = option.split("=")[0]
        return name in options or f"--[no-]{name.removeprefix('--').removeprefix('no-')}" in options

    return [word for group in groups(shlex.split(line))[1:] if known(group[0]) for word in group]


def covered(words):
    names = [group[0].split("=")[0] for group in groups(words)[1:]]
    return set(names) | {f"--[no-]{name.removeprefix('--').removeprefix('no-')}" for name in names}


def shown_by(command):
    return parse(subprocess.run(["tessera", command, "--help"], capture_output=True, text=True, check=True).stdout)


def check(command):
    examples, options = shown_by(command)
    assert options and examples, command
    other_examples, other_options = shown_by(ALIKE[command]) if command in ALIKE else ([], {})
    problems = [first_problem(command, shlex.split(example)) for example in examples if example not in other_examples]
    missing = set(options) - set(other_options)
    for base in BASES[command]:
        missing -= covered(shlex.split(base))
    for line in PLANS + LINES:
        words = shown(options, line)
        if missing & covered(words) and not first_problem(command, words):
            missing -= covered(words)
    for option in sorted(missing):
        switch = SWITCHED.match(option)
        words = [f"--no-{switch.group(1)}"] if switch else [option, *guess(options[option])]
        problems.append(first_problem(command, words))
    return [problem for problem in problems if problem]


with open("key", "w", encoding="ascii") as file:
    os.fchmod(file.fileno(), 0o600)
    file.write("what all processes know")
with ThreadPoolExecutor(len(BASES)) as threads:
    found = [problem for problems in threads.map(check, BASES) for problem in problems]
print("\n".join(found))
sys.exit(bool(found))
