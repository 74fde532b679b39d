"""step_ratios.py MPIRUN N MODEL DATA [TURNS]: a training step of N processes over an MPI and over TCP, in turns because the
machine's rate drifts; medians of their tokens per second, and the ratio of the times. MODEL is a model or an artifact
with a mesh of N ranks, MPIRUN may have options: step_ratios.py "mpirun.openmpi --bind-to none" 4 model.tsr text"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

mpirun, count, model, data = sys.argv[1:5]
turns = int(sys.argv[5]) if len(sys.argv) > 5 else 7
STEPS, FIRST = 200, 20  # the first steps warm up
os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"})


def rate(communicator, folder):
    log = os.path.join(folder, "log.jsonl")
    command = mpirun.split() + ["-n", count, "tessera", "train", model, "--data", data, "--steps", str(STEPS), "--log", log,
                                "--communicator", communicator]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(log) as lines:
        steps = [json.loads(line) for line in lines]
    os.remove(log)
    return statistics.median(step["tokens_per_second"] for step in steps if step.get("step", 0) > FIRST)


rates = {"tcp": [], "mpi": []}
with tempfile.TemporaryDirectory() as folder:
    for _ in range(turns):
        for communicator, known in rates.items():
            known.append(rate(communicator, folder))
medians = {communicator: statistics.median(known) for communicator, known in rates.items()}
for communicator, known in rates.items():
    print(f"{communicator}: {medians[communicator]:.0f} tokens/s (from {min(known):.0f} to {max(known):.0f})")
print(f"time of a step over mpi, of that over tcp: {medians['tcp'] / medians['mpi']:.2f}")
