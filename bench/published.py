#!/usr/bin/env python3
"""Simulates published training runs and compares: tessera simulate against the tables in bench/published/.

usage: published.py [--source NAME] [--run TEXT] [--tessera PROGRAM] [--cache FOLDER] [--fit]

Prints what was published, what is predicted and the error, for each source. Rows that constants of the cluster files
were fitted on are marked with f and are in no mean. Of rows marked with c, inputs were chosen that are not published
(the size of micro-batches, virtual stages), so these are no predictions either and have a mean of their own.
"""
import argparse
import csv
import hashlib
import json
import math
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def table(name):
    with open(os.path.join(HERE, "published", name + ".csv")) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


# The software of these runs has kernels of its own for GELU and for gradients of biases.
NO_EPILOGUES = "--no-gemm-epilogues"


class Run:
    """A published run as Tessera compiles it, and the numbers to compare."""

    def __init__(self, label, config, cluster, flags, published, predict, fitted=False, chosen=False,
                 unit="Tflop/s per GPU"):
        self.label, self.config, self.cluster, self.flags = label, config, cluster, flags
        self.published, self.predict, self.unit = published, predict, unit
        self.fitted, self.chosen = fitted, chosen

    @property
    def mark(self):
        return "f" if self.fitted else "c" if self.chosen else ""

    def simulate(self, tessera, cluster=None):
        cluster = ["--cluster", cluster or f"{ROOT}/clusters/{self.cluster}.toml", "--json"]
        if CACHE:
            return json.loads(run([tessera, "simulate", self.artifact(tessera)] + cluster))
        with tempfile.TemporaryDirectory() as folder:
            return json.loads(run([tessera, "simulate", self.write(folder)] + self.plan + cluster))

    @property
    def plan(self):
        return ["--device", "cuda", "--precision", "bf16", "--no-evaluation", NO_EPILOGUES] + self.flags

    def write(self, folder):
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(self.config, file)
        return folder

    def artifact(self, tessera):
        """Returns an artifact, compiled once by each build of the program: a file of the cache."""
        build = os.stat(tessera)
        text = json.dumps([self.config, self.plan, build.st_size, build.st_mtime_ns], sort_keys=True)
        path = os.path.join(CACHE, hashlib.sha256(text.encode()).hexdigest()[:16] + ".tsr")
        if not os.path.exists(path):
            os.makedirs(CACHE, exist_ok=True)
            with tempfile.TemporaryDirectory() as folder:
                run([tessera, "compile", self.write(folder), "-o", path] + self.plan)
        return path


CACHE = None


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"published: {' '.join(command)}: {result.stderr}")
    return result.stdout


def gpt(row, sequence, vocabulary=51200):
    return {"model_type": "gpt2", "vocab_size": vocabulary, "n_positions": sequence, "n_embd": int(row["hidden"]),
            "n_layer": int(row["layers"]), "n_head": int(row["heads"])}


def flops(row, sequence, batch, vocabulary=51200, recomputes=True):
    """Counts the operations of a step by arXiv:2104.04473, equation 3 (with all of forward done again), and 2205.05198,
    equation 7."""
    layers, hidden = int(row["layers"]), int(row["hidden"])
    scores, head = sequence / (6 * hidden), vocabulary / ((16 if recomputes else 12) * layers * hidden)
    return (96 if recomputes else 72) * batch * sequence * layers * hidden ** 2 * (1 + scores + head)


def mesh(tp, pp, dp, cp=1):
    sizes = [("pp", pp), ("dp", dp), ("cp", cp), ("tp", tp)]
    return ",".join(f"{axis}={size}" for axis, size in sizes if size > 1) or "dp=1"


def chunks(layers, pp, virtual=1):
    """Returns Megatron's cut: each chunk has as many layers."""
    return ["--stages", ",".join([str(layers // (pp * virtual))] * (pp * virtual))] if pp > 1 else []


def sizes(batch, dp, microbatch):
    count = batch // dp // microbatch
    return ["--batch", str(batch), "--micro-batches", str(count)]


def narayanan_table1():
    for row in table("narayanan2021_table1"):
        tp, pp, gpus, batch = (int(row[key]) for key in ("tp", "pp", "gpus", "batch"))
        dp = gpus // tp // pp
        flags = ["--mesh", mesh(tp, pp, dp), "--recompute", "full"] + sizes(batch, dp, int(row["mbs"]))
        if int(row["vstages"]) > 1:
            flags += ["--virtual-stages", row["vstages"]]
        flags += chunks(int(row["layers"]), pp, int(row["vstages"]))
        work = flops(row, 2048, batch)
        yield Run(row["params_b"] + "B", gpt(row, 2048), "selene", flags, float(row["tflops_gpu"]),
                  lambda out, work=work, gpus=gpus: work / out["step_seconds"] / gpus / 1e12,
                  fitted=row["params_b"] in ("1.7", "310.1"))


# The table does not say how its pipelines are cut; the scripts of the paper's other runs of these two models on as many
# ranks of tp and pp do: for Figure 12 with 2 layers in a chunk, for Table 1 with 1.
SHAPES = {"174.6": {"layers": 96, "hidden": 12288, "heads": 96, "pp": 12, "vstages": 4},
          "529.6": {"layers": 105, "hidden": 20480, "heads": 128, "pp": 35, "vstages": 3}}


def narayanan_table2():
    for row in table("narayanan2021_table2_ptd_vs_zero3"):
        if row["scheme"] != "ptd":
            continue
        shape = SHAPES[row["params_b"]]
        gpus, batch = int(row["gpus"]), int(row["batch"])
        dp = gpus // int(row["model_parallel"])
        flags = ["--mesh", mesh(8, shape["pp"], dp), "--recompute", "full"] + sizes(batch, dp, int(row["mbs"]))
        flags += ["--virtual-stages", str(shape["vstages"])]
        flags += chunks(shape["layers"], shape["pp"], shape["vstages"])
        work = flops(shape, 2048, batch)
        yield Run(f"{row['params_b']}B on {gpus}", gpt(shape, 2048), "selene", flags, float(row["tflops_gpu"]),
                  lambda out, work=work, gpus=gpus: work / out["step_seconds"] / gpus / 1e12)


def korthikanti_table5():
    for row in table("korthikanti2022_table3_5"):
        tp, pp, batch = int(row["tp"]), int(row["pp"]), int(row["batch"])
        base = ["--mesh", mesh(tp, pp, 1)] + sizes(batch, 1, int(row["mbs"]))
        if int(row["vstages"]) > 1:
            base += ["--virtual-stages", row["vstages"]]
        base += chunks(int(row["layers"]), pp, int(row["vstages"]))
        for kind, extra in (("full", ["--recompute", "full"]),
                            ("present", ["--recompute", "selective", "--sequence-parallel"])):
            yield Run(f"{row['model']} {kind}", gpt(row, 2048), "selene-2022", base + extra,
                      float(row[f"t_{kind}_s"]), lambda out: out["step_seconds"],
                      fitted=(row["model"], kind) == ("175B", "full"), unit="seconds")


class LayerRun(Run):
    """Milliseconds of one layer in the middle of a few: from its first call to the next layer's."""

    def simulate(self, tessera, cluster=None):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            run([tessera, "simulate", self.write(folder), "--trace", trace, "--cluster",
                 cluster or f"{ROOT}/clusters/{self.cluster}.toml"] + self.plan)
            with open(trace) as file:
                events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
        calls = sorted((event["ts"], event["name"]) for event in events if event["tid"] == 0)
        head = next(begin for begin, name in calls if name.endswith(" head"))
        products = [begin for begin, name in calls if name.startswith("gemm h.")]  # before them weights are cast

        def begins(layer, least, most):
            return next(begin for begin, name in calls if f" h.{layer}." in name and least <= begin < most)

        return {"forward": (begins(2, products[0], head) - begins(1, products[0], head)) / 1e3,
                "backward": (begins(0, head, math.inf) - begins(1, head, math.inf)) / 1e3}


def korthikanti_table4():
    """Returns the runs of a layer of the 22B model, on 8 GPUs."""
    kinds = {"baseline_no_recompute": [], "sequence_parallel": ["--sequence-parallel"],
             "baseline_full_recompute": ["--recompute", "full"], "selective_recompute": ["--recompute", "selective"],
             "selective_plus_sequence": ["--recompute", "selective", "--sequence-parallel"]}
    shape = {"hidden": 6144, "layers": 4, "heads": 64}
    for row in table("korthikanti2022_table4_layer22b"):
        for part, column in (("forward", "fwd_ms"), ("backward", "bwd_ms")):
            flags = ["--mesh", mesh(8, 1, 1)] + sizes(4, 1, 4) + kinds[row["experiment"]]
            yield LayerRun(f"{row['experiment'].replace('_', ' ')}, {part}", gpt(shape, 2048), "selene-2022", flags,
                           float(row[column]), lambda out, part=part: out[part], unit="milliseconds")


def shoeybi_table1():
    for row in table("shoeybi2019_table1_fig5"):
        tp = int(row["tp"])
        for kind, dp in (("mp", 1), ("mpdp", 64)):
            batch = int(row["batch_" + kind])
            flags = ["--mesh", mesh(tp, 1, dp), "--recompute", "full", "--batch", str(batch)]
            work = flops(row, 1024, batch)
            gpus = tp * dp
            yield Run(f"{row['params_b']}B on {gpus}", gpt(row, 1024), "dgx-2h", flags,
                      float(row[f"eff_{kind}_pct"]),
                      lambda out, work=work, gpus=gpus: work / out["step_seconds"] / gpus / 39e12 * 100,
                      fitted=(row["params_b"], kind) in (("1.2", "mp"), ("8.3", "mp")), unit="% of 39 Tflop/s")


def shoeybi_table7_8():
    """Heads of the largest model of Table 1, and the smallest on more GPUs; its row of 32 heads is a row of Table 1."""
    largest, smallest = {"hidden": 3072, "layers": 72}, {"hidden": 1536, "layers": 40, "heads": 16}
    for row in table("shoeybi2019_table7_8"):
        kind, x, value = row["kind"], int(row["x"]), float(row["value"])
        if kind.startswith("heads"):
            shape = {**largest, "heads": x}
            flags = ["--mesh", mesh(8, 1, 1), "--recompute", "full", "--batch", "8"]
            work = flops(shape, 1024, 8)
            yield Run(f"8.3B, {x} heads", gpt(shape, 1024), "dgx-2h", flags, value,
                      lambda out, work=work: work / out["step_seconds"] / 8 / 39e12 * 100, fitted=x == 32,
                      unit="% of 39 Tflop/s")
        elif x > 1:
            flags = ["--mesh", mesh(x, 1, 1), "--recompute", "full", "--batch", "8"]
            # Against one GPU as the paper measured it.
            alone = flops(smallest, 1024, 8) / 39e12
            yield Run(f"1.2B on {x}", gpt(smallest, 1024), "dgx-2h", flags, value,
                      lambda out, alone=alone: alone / out["step_seconds"], unit="times as fast as 1")


def zero_bubble():
    """Its vocabulary is not printed: 32000 tokens, those of the tokenizer of LLaMA, whose script its first one was, make the
    14.6B and 28.3B that it calls its larger models; 50304 would make 14.7B and 28.4B."""
    for row in table("zerobubble2024_table3_5"):
        pp, mbs, count = int(row["pp"]), int(row["mbs"]), int(row["microbatches"])
        for kind, schedule in (("f1b1", ["--schedule", "1f1b"]), ("zb1p", ["--schedule", "zero-bubble"]),
                               ("f1b1_interleaved", ["--virtual-stages", str((int(row["layers"]) + 2) // pp)])):
            layers = int(row["layers"])
            cuts = []
            if kind != "f1b1_interleaved":
                # The first and the last stage have a layer less.
                each = (layers + 2) // pp
                cuts = ["--stages", ",".join(str(each - (stage in (0, pp - 1))) for stage in range(pp))]
            flags = ["--mesh", f"pp={pp}", "--batch", str(mbs * count), "--micro-batches", str(count)]
            yield Run(f"{row['model']} m={count} {kind}", gpt(row, 1024, 32000), "a100-roce",
                      flags + schedule + cuts, float(row[kind]),
                      lambda out, batch=mbs * count, pp=pp: batch / out["step_seconds"] / pp,
                      fitted=(row["model"], kind, count) in (("1.5B", "f1b1", 64),), unit="samples/s per GPU")


def megatron_core_run(row, microbatch, virtual):
    tp, pp, dp, gpus, batch = (int(row[key]) for key in ("tp", "pp", "dp", "gpus", "batch"))
    flags = ["--mesh", mesh(tp, pp, dp), "--zero", "1"] + sizes(batch, dp, microbatch)
    if tp > 1:
        flags.append("--sequence-parallel")
    if virtual > 1:
        flags += ["--virtual-stages", str(virtual)] + chunks(int(row["layers"]), pp, virtual)
    work = flops(row, 4096, batch, 131072, recomputes=False)
    return Run(row["params_b"] + "B", gpt(row, 4096, 131072), "dgx-h100", flags, float(row["tflops_gpu"]),
               lambda out: work / out["step_seconds"] / gpus / 1e12, fitted=row["params_b"] == "7.1", chosen=True)


def megatron_core():
    """Its micro-batch sizes and virtual stages are not published; see MEGATRON_CORE."""
    for row in table("megatron_core_h100_weak_scaling"):
        yield megatron_core_run(row, *MEGATRON_CORE.get(row["params_b"]) or fastest_megatron_core(row))


# Sequences of a micro-batch and virtual stages that fastest_megatron_core finds, which takes minutes.
MEGATRON_CORE = {"1.7": (4, 1), "7.1": (4, 1), "16": (4, 1), "119": (2, 23), "314": (1, 12)}


def fastest_megatron_core(row, tessera=f"{ROOT}/build/bin/tessera"):
    """Tries 1, 2 and 4 sequences, and the virtual stages that divide the layers; returns the fastest in the simulator
    that fits."""
    pp, share = int(row["pp"]), int(row["batch"]) // int(row["dp"])
    layers = int(row["layers"]) // pp  # layers of a stage
    best = {}
    for microbatch in (1, 2, 4):
        for virtual in range(1, layers + 1 if pp > 1 else 2):
            # Interleaved stages need multiples of pp micro-batches.
            if share % microbatch or layers % virtual or (virtual > 1 and share // microbatch % pp):
                continue
            out = megatron_core_run(row, microbatch, virtual).simulate(tessera, f"{ROOT}/clusters/dgx-h100.toml")
            if out["fits"]:
                best[out["step_seconds"]] = (microbatch, virtual)
    if not best:
        raise SystemExit(f"published: no micro-batch of {row['params_b']}B fits")
    return best[min(best)]


def llama3():
    """The sizes of its micro-batches are not published, 1 is chosen. The first stage has a layer less, so that its first
    chunk has the embedding alone, and so has the last stage before the head: chunks have one layer. Its utilization is
    Chowdhery et al.'s (2022): 6 flops for each parameter, and attention without regard to the mask."""
    layers, hidden = 126, 16384
    config = {"model_type": "llama", "vocab_size": 128256, "hidden_size": hidden, "num_hidden_layers": layers,
              "intermediate_size": 53248, "num_attention_heads": 128, "num_key_value_heads": 8,
              "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
              "tie_word_embeddings": False}
    parameters = 405.85e9
    for row in table("llama3_405b_table4"):
        tp, cp, pp, dp, gpus, sequence = (int(row[key]) for key in ("tp", "cp", "pp", "dp", "gpus", "seqlen"))
        batch = int(row["batch_per_dp"]) * dp
        virtual = (layers + 2) // pp
        # Ranks are in the order [TP, CP, PP, DP], the first within a node.
        axes = [("dp", dp), ("pp", pp), ("cp", cp), ("tp", tp)]
        flags = ["--mesh", ",".join(f"{axis}={size}" for axis, size in axes if size > 1), "--seq-length",
                 str(sequence), "--sequence-parallel", "--zero", "1", "--virtual-stages", str(virtual), "--stages",
                 ",".join(map(str, [0] + [1] * layers + [0]))] + sizes(batch, dp, 1)
        if cp > 1:
            flags += ["--context-parallel", "ring"]  # its ranks have equal work, as in the publication
        work = batch * sequence * (6 * parameters + 12 * layers * hidden * sequence)
        yield Run(f"405B on {gpus}, {sequence // 1024}K", config, "llama-3", flags, float(row["tflops_gpu"]),
                  lambda out, work=work, gpus=gpus: work / out["step_seconds"] / gpus / 1e12,
                  fitted=(gpus, sequence) == (8192, 8192), chosen=True)


SOURCES = {"narayanan-1": narayanan_table1, "narayanan-2": narayanan_table2, "korthikanti-4": korthikanti_table4,
           "korthikanti-5": korthikanti_table5, "shoeybi-1": shoeybi_table1, "shoeybi-7-8": shoeybi_table7_8,
           "zero-bubble": zero_bubble, "megatron-core": megatron_core, "llama-3": llama3}


FITTED = re.compile(r"^(\w+ = )([\d.e+-]+)( # fitted.*)$", re.M)


def fit(name, runs, tessera):
    """Gauss-Newton on the logarithms of as many rows as constants."""
    runs = [run for run in runs if run.fitted]
    if not runs:
        raise SystemExit(f"published: no row of {name} is for fitting")
    with open(f"{ROOT}/clusters/{runs[0].cluster}.toml") as file:
        text = file.read()
    values = [float(value) for _, value, _ in FITTED.findall(text)]
    if len(values) != len(runs):
        raise SystemExit(f"published: {len(values)} constants of {runs[0].cluster} are fitted on {len(runs)} rows")

    def logarithms(values):
        rest = iter(values)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(FITTED.sub(lambda match: f"{match[1]}{next(rest):.6g}{match[3]}", text))
            file.flush()
            return [math.log(run.predict(run.simulate(tessera, file.name)) / run.published) for run in runs]

    for _ in range(6):
        start = logarithms(values)
        print("constants " + " ".join(f"{value:.4g}" for value in values)
              + " errors " + " ".join(f"{100 * error:+.2f} %" for error in start), flush=True)
        if max(map(abs, start)) < 5e-4:
            break
        columns = []
        for index, value in enumerate(values):
            moved = logarithms(values[:index] + [value * 0.97] + values[index + 1:])
            columns.append([(after - before) / math.log(0.97) for after, before in zip(moved, start)])
        for index, step in enumerate(solve(columns, start)):
            values[index] *= math.exp(max(-0.5, min(0.5, -step)))


def solve(columns, right):
    """Solves one or two linear equations."""
    if len(right) == 1:
        return [right[0] / columns[0][0]]
    (a, c), (b, d) = columns
    scale = a * d - b * c
    return [(right[0] * d - b * right[1]) / scale, (a * right[1] - right[0] * c) / scale]


def summary(what, runs, errors):
    if not errors:
        return
    fitted = [run.published for run in runs if run.fitted]
    if {run.unit for run in runs} == {"Tflop/s per GPU"} and fitted:
        rate = sum(fitted) / len(fitted)
        constant = [abs(rate / run.published - 1) for run in runs if not run.fitted]
        print(f"A constant rate, the mean of the rows marked f: mean {100 * sum(constant) / len(constant):.1f} %, "
              f"worst {100 * max(constant):.1f} %")
    print(f"{what}: mean {100 * sum(errors) / len(errors):.1f} %, worst {100 * max(errors):.1f} % of {len(errors)} rows")


def compare(name, runs, tessera):
    errors = {"": [], "c": [], "f": []}
    print(f"\n{name}")
    print("| run | published | predicted | error |  |")
    print("|---|---:|---:|---:|---|")
    for run in runs:
        predicted = run.predict(run.simulate(tessera))
        error = predicted / run.published - 1
        errors[run.mark].append(abs(error))
        print(f"| {run.label} | {run.published:g} | {predicted:.4g} | {100 * error:+.1f} % | {run.mark} |", flush=True)
    summary("Predicted", runs, errors[""])
    summary("With chosen inputs", runs, errors["c"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", choices=sorted(SOURCES), help="default: all")
    parser.add_argument("--run", default="", help="only the rows whose label has this text")
    parser.add_argument("--cache", help="keep compiled runs in this folder, for the next time")
    parser.add_argument("--fit", action="store_true", help="fit the marked constants of the source's cluster")
    parser.add_argument("--tessera", default=f"{ROOT}/build/bin/tessera")
    options = parser.parse_args()
    global CACHE
    CACHE = options.cache
    for name in [options.source] if options.source else SOURCES:
        runs = [run for run in SOURCES[name]() if options.run in run.label]
        if runs:
            (fit if options.fit else compare)(name, runs, options.tessera)


if __name__ == "__main__":
    main()
