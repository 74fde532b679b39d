#!/usr/bin/env python3
"""Compares the steps that tessera simulate predicts for this machine with measured ones.

usage: predict.py [--cluster FILE] [--bin FOLDER] [--rounds N] [--steps N] [--quiet SHARE] [--tries N] [--only TEXT]

FILE is what `tessera calibrate` wrote here. Without it the machine is calibrated before each round, and what is predicted
is the median of the rounds, so that a machine whose speed changes within minutes has the same speed for both. Prints a
table: predicted, measured (median of all steps after warm-up, the programs in turns), error; then the mean error and
Spearman's rank correlation, of all programs and of the plans of each model. README.md says how to keep the machine quiet.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from workers import Worker, ask_quietly

HERE = pathlib.Path(__file__).resolve().parent

GPT = {"model_type": "gpt2", "vocab_size": 512, "n_positions": 128, "n_embd": 256, "n_layer": 6, "n_head": 4,
       "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
GPT_WIDE = {**GPT, "vocab_size": 2048, "n_embd": 512, "n_layer": 4, "n_head": 8}
LLAMA = {"model_type": "llama", "vocab_size": 512, "max_position_embeddings": 256, "hidden_size": 320,
         "intermediate_size": 864, "num_hidden_layers": 4, "num_attention_heads": 10, "num_key_value_heads": 2,
         "rms_norm_eps": 1e-5}
BERT = {"model_type": "bert", "vocab_size": 1024, "mask_token_id": 1023, "max_position_embeddings": 128,
        "hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 4,
        "type_vocab_size": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
T5 = {"model_type": "t5", "vocab_size": 512, "pad_token_id": 0, "decoder_start_token_id": 0, "n_positions": 128,
      "d_model": 256, "d_kv": 64, "d_ff": 640, "num_layers": 3, "num_decoder_layers": 3, "num_heads": 4,
      "dropout_rate": 0.0, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "is_encoder_decoder": True}
MIXTRAL = {"model_type": "mixtral", "vocab_size": 512, "max_position_embeddings": 128, "hidden_size": 256,
           "intermediate_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 4,
           "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5}
# Options of each plan after the model's batch; none of these sizes is one that calibrate runs.
MODELS = {
    "GPT-2": (GPT, "--batch 8 --seq-length 128", [
        "", "--precision bf16", "--micro-batches 4", "--recompute full", "--mesh tp=2", "--mesh tp=2 --precision bf16",
        "--mesh tp=2 --sequence-parallel", "--mesh dp=2", "--mesh dp=2 --precision bf16", "--mesh dp=2 --zero 1",
        "--mesh dp=2 --zero 3", "--mesh cp=2", "--mesh cp=2 --context-parallel ring",
        "--mesh pp=2 --micro-batches 4", "--mesh pp=2 --micro-batches 8",
        "--mesh pp=2 --micro-batches 4 --schedule zero-bubble", "--mesh pp=2 --micro-batches 4 --precision bf16",
        "--mesh dp=2,tp=2", "--mesh pp=2,dp=2 --micro-batches 4"]),
    "GPT-2, wide": (GPT_WIDE, "--batch 4 --seq-length 128", [
        "", "--precision bf16", "--mesh tp=2", "--mesh dp=2", "--mesh pp=2 --micro-batches 4",
        "--mesh dp=2 --zero 3", "--mesh dp=2,tp=2"]),
    "LLaMA": (LLAMA, "--batch 4 --seq-length 256", [
        "", "--precision bf16", "--recompute selective", "--mesh tp=2", "--mesh dp=2", "--mesh dp=2 --precision bf16",
        "--mesh cp=2", "--mesh pp=2 --micro-batches 4"]),
    "BERT": (BERT, "--batch 8 --seq-length 128", ["", "--mesh tp=2", "--mesh dp=2 --precision bf16"]),
    "T5": (T5, "--batch 8 --seq-length 128 --decoder-seq-length 128", ["", "--mesh tp=2", "--mesh dp=2"]),
    "Mixtral": (MIXTRAL, "--batch 8 --seq-length 128", ["", "--precision bf16", "--mesh ep=2", "--mesh tp=2", "--mesh dp=2"]),
}


def measuring_parser(program, description, needs_cluster=True):
    """Returns the options of every script that trains what is predicted for this machine."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--cluster", type=pathlib.Path, required=needs_cluster, help="what tessera calibrate wrote here")
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent / "build/bin", help="folder of the built programs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5, help="of a round, after one that does not count")
    parser.add_argument("--quiet", type=float, default=0.05,
                        help="repeat a round in which other work took more than this share of the processors")
    parser.add_argument("--tries", type=int, default=5, help="rounds at most until one is quiet")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers here too")
    return parser


def parse():
    parser = measuring_parser("bench/predict.py", __doc__.splitlines()[0], needs_cluster=False)
    parser.add_argument("--only", default="", help="the programs whose row has this text")
    return parser.parse_args()


def ranks_of(values):
    """Returns ranks from 1; equal values share the mean of their places."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def spearman(first, second):
    return statistics.correlation(ranks_of(first), ranks_of(second)) if len(first) > 2 else float("nan")


def train(options, artifact):
    """Returns the seconds of each step of a round."""
    # 0 threads: all cores, as tessera train has it.
    worker = Worker([options.bin / "bench-steps", artifact, "0"])
    worker.ask(2, keep=False)
    seconds, others = ask_quietly(worker, options.steps, options.quiet, options.tries)
    worker.close()
    LOUD.append(others > options.quiet)
    return seconds


LOUD = []  # true for each round so far that other work disturbed


def loudness():
    return f"Other work disturbed {sum(LOUD)} of {len(LOUD)} rounds."


class Program:
    def __init__(self, options, model, plan, folder):
        config, sizes, _ = MODELS[model]
        self.model, self.plan = model, plan
        path = folder / f"{model}.json"
        path.write_text(json.dumps(config))
        self.artifact = folder / f"{model} {plan}.tsr".replace("/", "_")
        subprocess.run([options.bin / "tessera", "compile", path, *sizes.split(), *plan.split(), "--no-evaluation", "-o",
                        self.artifact], check=True, stdout=subprocess.DEVNULL)
        self.predictions, self.seconds = [], []

    def predict(self, options, cluster):
        text = subprocess.run([options.bin / "tessera", "simulate", self.artifact, "--cluster", cluster, "--json"],
                              check=True, capture_output=True, text=True).stdout
        self.predictions.append(json.loads(text)["step_seconds"])

    def measure(self, options):
        self.seconds += train(options, self.artifact)

    @property
    def predicted(self):
        return statistics.median(self.predictions)

    @property
    def measured(self):
        return statistics.median(self.seconds)

    @property
    def error(self):
        return self.predicted / self.measured - 1


def summary(programs):
    """Returns the mean error, and the rank correlation of all and of each model's plans."""
    lines = []
    errors = [abs(program.error) for program in programs]
    lines.append(f"{len(programs)} programs: mean error {100 * statistics.mean(errors):.1f} %, "
                 f"worst {100 * max(errors):.1f} %; Spearman's rank correlation "
                 f"{spearman([p.predicted for p in programs], [p.measured for p in programs]):.3f}.")
    for model in MODELS:
        own = [program for program in programs if program.model == model]
        if len(own) > 4:
            lines.append(f"Of the {len(own)} plans of {model}: "
                         f"{spearman([p.predicted for p in own], [p.measured for p in own]):.3f}.")
    return lines


def calibrate(options, folder):
    """Writes and returns the description of the machine as it is now."""
    cluster = folder / "machine.toml"
    subprocess.run([options.bin / "tessera", "calibrate", "-o", cluster], check=True, capture_output=True)
    return cluster


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = [Program(options, model, plan, folder) for model, (_, _, plans) in MODELS.items() for plan in plans
                    if options.only in f"{model} {plan}"]
        for _ in range(options.rounds):
            cluster = options.cluster or calibrate(options, folder)
            for program in programs:
                program.predict(options, cluster)
                program.measure(options)
    print("| model | options | predicted, ms | measured, ms | least, ms | error |")
    print("|---|---|---:|---:|---:|---:|")
    for p in programs:
        plan = f"`{p.plan}`" if p.plan else ""
        print(f"| {p.model} | {plan} | {1e3 * p.predicted:.1f} | {1e3 * p.measured:.1f} | {1e3 * min(p.seconds):.1f} | "
              f"{100 * p.error:+.1f} % |")
    print()
    print("\n".join([*summary(programs), loudness()]))
    if options.json:
        options.json.write_text(json.dumps([{"model": p.model, "plan": p.plan, "predicted": p.predicted,
                                             "seconds": p.seconds} for p in programs], indent=1) + "\n")


if __name__ == "__main__":
    main()
