"""same-as-threads.py MODEL N DATA: trains three steps as threads of one process and as N processes; their losses, norms
and checkpoints must be the same bits."""
import json
import os
import subprocess
import sys

model, count, data = sys.argv[1:]
launch = os.path.join(os.path.dirname(__file__), "launch.py")
ways = {"threads": [], "tcp": [sys.executable, launch, "torchrun", count]}
for way, launcher in ways.items():
    command = launcher + ["tessera", "train", model, "--data", data, "--steps", "3", "--checkpoint-dir", f"{model}.{way}",
                          "--log", f"{model}.{way}.jsonl"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = way == "tcp" and run.stdout.count("exit code 0") != int(count)
    if run.returncode or failed or not os.path.exists(f"{model}.{way}/step-00000003"):
        sys.exit(f"{way}: {run.stdout}")


def steps(way):
    return [(line["step"], line["loss"], line["grad_norm"]) for line in map(json.loads, open(f"{model}.{way}.jsonl"))]


def content(way, name):
    return open(f"{model}.{way}/step-00000003/{name}", "rb").read()


if steps("threads") != steps("tcp") or len(steps("tcp")) != 3:
    sys.exit(f"{steps('threads')} is not {steps('tcp')}")
files = ["model.safetensors", "optimizer.safetensors"]
for name in files:
    if content("threads", name) != content("tcp", name):
        sys.exit(f"{name} differs")
print(len(steps("tcp")), "steps are the same, and", len(files), "files")
