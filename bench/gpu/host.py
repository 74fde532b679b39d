"""Measures the host's part of a step on a GPU whose graph is captured, without a GPU.

Usage: host.py [MODEL...]   (124m 350m 774m; default: all)
Compiles GPT-2 for CUDA, with the batches of bench/gpu/run.py, and steps it on the device's own host code, with the
stand-ins of test/Runtime/cuda in the place of CUDA: an idle GPU, which runs nothing that is captured. So the time of
tsr_session_step is the host's part: checking and placing the tokens, waking the rank's thread, the walk over the program,
its scalars, the result. What the driver's own calls take is not in it. Prints the median of 5000 steps. Needs a build with
tests, and memory for the model's parameters and optimizer state.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = SOURCE / "build"
DEVICE = BUILD / "test/Runtime/cuda/standin-device"
STEPS, WARM = 5000, 50
BATCHES = {"124m": 32, "350m": 16, "774m": 12}


def compile_model(model, directory):
    artifact = directory / f"{model}.tsr"
    config = SOURCE / "bench/configs" / f"gpt2-{model}" / "config.json"
    subprocess.run([BUILD / "bin/tessera", "compile", config, "--batch", str(BATCHES[model]), "--seq-length", "1024",
                    "--precision", "bf16", "--device", "cuda", "-o", artifact], check=True, stdout=subprocess.DEVNULL)
    return artifact


def steps(artifact):
    """Returns the seconds of each step; the first ones capture the graph."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(DEVICE), "TESSERA_STANDIN": "idle"}
    done = subprocess.run([BUILD / "bin/gpu-steps", artifact, "1", "cuda"], input=f"{WARM}\n{STEPS}\n", text=True,
                          capture_output=True, env=environment, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != 3:
        sys.exit(f"host: {artifact.name}: {done.stderr.strip()}")
    return len(lines[0]["ops"]), lines[2]["seconds"]


def main():
    with tempfile.TemporaryDirectory() as directory:
        for model in sys.argv[1:] or BATCHES:
            calls, seconds = steps(compile_model(model, pathlib.Path(directory)))
            median = statistics.median(seconds) * 1e6
            print(f"gpt2-{model}: {calls} calls, {BATCHES[model]} x 1024 tokens, {median:.0f} microseconds per step, "
                  f"fastest {min(seconds) * 1e6:.0f}", flush=True)


if __name__ == "__main__":
    main()
