"""Steps of GPT-2 on one GPU beside PyTorch's, in one run on one machine, within a budget of time.

Usage: run.py CARRY BUILD OUTPUT.json SECONDS [MODEL...]
CARRY holds artifacts/bench-MODEL.tsr (tools/scripts/gpu-check.sh --carry), BUILD bin/gpu-steps and bin/gpu-limits.
Artifacts bench-MODEL-VARIANT.tsr are the same model compiled otherwise, measured behind it.
Every measurement has a part of the time that is left; OUTPUT is written after each, so what was measured stays when
the time ends. Tessera is measured as it is, op by op (op_times.py), and without cuDNN's attention. PyTorch is measured
eager, with CUDA graphs, with torch.compile and with both; the fastest counts. PYTORCH_MODES in the environment names
fewer of these, by commas. Logs are OUTPUT.MODEL.NAME.log.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import op_times

MODELS = ["124m", "350m", "774m", "1558m"]
MODES = ["compile+graphs", "compile", "graphs", "eager"]
TURNS, STEPS, WARM = 3, 10, 4
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


class Clock:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()


def run_worker(command, limit, log, environment=None):
    """Returns what a worker of bench/Worker.h says when it is ready, and the seconds of its steps. Raises on failure."""
    with open(log, "w") as errors:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=errors, text=True, env={**os.environ, **(environment or {})})
        killer = threading.Timer(max(limit, 1), process.kill)
        killer.start()
        try:
            ready = process.stdout.readline()
            turns = []
            for count in [WARM] + [STEPS] * TURNS:
                process.stdin.write(f"{count}\n")
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    break
                turns.append(json.loads(line))
            process.stdin.close()
            process.wait()
        except (BrokenPipeError, json.JSONDecodeError):
            process.kill()
            process.wait()
            turns = []
        finally:
            timed_out = not killer.is_alive()
            killer.cancel()
    if len(turns) < 2:
        tail = pathlib.Path(log).read_text()[-400:].strip()
        raise RuntimeError(f"no time left after {limit:.0f} s" if timed_out else tail or f"exit {process.returncode}")
    seconds = [second for turn in turns[1:] for second in turn["seconds"]]
    return json.loads(ready), seconds, turns[-1]


def rates(seconds, tokens, flops, limit):
    median = statistics.median(seconds)
    result = {"seconds_per_step": median, "fastest": min(seconds), "slowest": max(seconds),
              "tokens_per_second": round(tokens / median), "tflops": round(flops / median * 1e-12, 1)}
    if limit:
        result["share_of_matmul_limit"] = round(flops / median * 1e-12 / limit, 3)
    return result


def measure_tessera(artifact, build, limit, seconds, log, environment=None):
    ready, times, _ = run_worker([build / "bin/gpu-steps", artifact, 1, "cuda"], seconds, log, environment)
    report = ready["report"]
    result = rates(times, report["tokens_per_step"], report["flops"], limit)
    result["memory_bytes"] = ready["arena"]["bytes"]
    return result, ready


def measure_pytorch(ready, model, mode, limit, seconds, log):
    config = SOURCE / "bench/configs" / f"gpt2-{model}" / "config.json"
    shape = ready["model"]
    command = [sys.executable, SOURCE / "bench/peers/pytorch_gpt2.py", config, shape["batch"], shape["sequence"],
               "bf16", 1, "cuda", mode]
    about, times, last = run_worker(command, seconds, log)
    result = rates(times, ready["report"]["tokens_per_step"], ready["report"]["flops"], limit)
    result.update(memory_bytes=last.get("peak_device"), version=about["version"])
    return result


class Run:
    def __init__(self, carry, build, output, clock):
        self.carry, self.build, self.output, self.clock = carry, build, output, clock
        self.result = {"limits": {}, "models": {}}

    def save(self):
        self.output.write_text(json.dumps(self.result, indent=1) + "\n")

    def attempt(self, entry, name, seconds, function, of=""):
        """Returns whether it was measured; an error is a result too. `of`: the model, for the log's name."""
        seconds = min(seconds, self.clock.left())
        try:
            if seconds < 5:
                raise RuntimeError("no time left")
            log = ".".join(filter(None, [str(self.output), of, name, "log"]))
            value = function(seconds, log.replace("+", "-").replace(" ", "-"))
        except (RuntimeError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            value = {"error": str(error)}
        entry[name] = value
        self.save()
        if "ops" in value:
            print(name, json.dumps({key: part for key, part in value.items() if key != "ops"}), flush=True)
            print(op_times.table(value), flush=True)
        else:
            print(name, json.dumps(value), flush=True)
        return "error" not in value

    def limits(self, seconds, log):
        done = subprocess.run([str(self.build / "bin/gpu-limits")], capture_output=True, text=True, timeout=seconds,
                              check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def model(self, model):
        entry = self.result["models"].setdefault(model, {})
        limit = self.result["limits"].get("matmul_tflops")
        artifacts = self.carry / "artifacts"
        artifact = artifacts / f"bench-{model}.tsr"
        ready = {}

        def tessera(seconds, log):
            result, about = measure_tessera(artifact, self.build, limit, seconds, log)
            ready.update(about)
            return result

        def attempt(name, seconds, function):
            return self.attempt(entry, name, seconds, function, of=model)

        def measure(artifact, environment=None):
            return lambda seconds, log: measure_tessera(artifact, self.build, limit, seconds, log, environment)[0]

        if not attempt("tessera", 60, tessera):
            return
        attempt("ops", 30, lambda seconds, log:
                op_times.measure(artifact, self.build, self.result["limits"], seconds, log))
        attempt("tessera without cuDNN", 30, measure(artifact, {"TESSERA_CUDNN": "off"}))
        for variant in sorted(artifacts.glob(f"bench-{model}-*.tsr")):
            attempt("tessera " + variant.stem.removeprefix(f"bench-{model}-"), 30, measure(variant))
        for mode in filter(None, os.environ.get("PYTORCH_MODES", ",".join(MODES)).split(",")):
            # The rest of the models must have their turn.
            attempt("pytorch " + mode, 75 if "compile" in mode else 30,
                    lambda seconds, log: measure_pytorch(ready, model, mode, limit, seconds, log))
        peers = [value["tokens_per_second"] for name, value in entry.items()
                 if name.startswith("pytorch") and "error" not in value]
        if peers:
            entry["times_pytorch"] = round(entry["tessera"]["tokens_per_second"] / max(peers), 3)
            self.save()


def main():
    carry, build, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    run = Run(carry, build, output, Clock(float(sys.argv[4])))
    run.attempt(run.result, "limits", 30, run.limits)
    for model in sys.argv[5:] or MODELS:
        run.model(model)
    measured = [entry for entry in run.result["models"].values() if "error" not in entry.get("tessera", {"error": 1})]
    sys.exit(0 if measured else 1)


if __name__ == "__main__":
    main()
