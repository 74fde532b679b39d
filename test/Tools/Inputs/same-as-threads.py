"""same-as-threads.py MODEL N DATA [WAY...]: trains three steps as threads of one process and as N processes, over TCP or
by each WAY: openmpi or mpich; their losses, norms and checkpoints must be the same bits."""
import json
import os
import subprocess
import sys

model, count, data, *asked = sys.argv[1:]
launchers = {
    "threads": [],
    "tcp": [sys.executable, os.path.join(os.path.dirname(__file__), "launch.py"), "torchrun", count],
    "openmpi": ["mpirun.openmpi", "--bind-to", "none", "-n", count],
    "mpich": ["mpirun.mpich", "-n", count],
}
ways = asked or ["tcp"]
os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"})
for way in ["threads"] + ways:
    command = launchers[way] + ["tessera", "train", model, "--data", data, "--steps", "3", "--checkpoint-dir",
                                f"{model}.{way}", "--log", f"{model}.{way}.jsonl"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = way == "tcp" and run.stdout.count("exit code 0") != int(count)
    network = {"openmpi": "processes over Open MPI", "mpich": "processes over MPICH"}.get(way, "")
    if run.returncode or failed or network not in run.stdout or not os.path.exists(f"{model}.{way}/step-00000003"):
        sys.exit(f"{way}: {run.stdout}")


def steps(way):
    return [(line["step"], line["loss"], line["grad_norm"]) for line in map(json.loads, open(f"{model}.{way}.jsonl"))]


def content(way, name):
    return open(f"{model}.{way}/step-00000003/{name}", "rb").read()


files = ["model.safetensors", "optimizer.safetensors"]
for way in ways:
    if steps("threads") != steps(way) or len(steps(way)) != 3:
        sys.exit(f"{way}: {steps('threads')} is not {steps(way)}")
    for name in files:
        if content("threads", name) != content(way, name):
            sys.exit(f"{way}: {name} differs")
print(len(steps("threads")), "steps are the same, and", len(files), "files")
