#!/usr/bin/env python3
"""Compares what was published of Megatron-LM's memory with what is predicted of it, and with Tessera's own plans.

usage: memory.py [--model NAME] [--tessera PROGRAM]

Prints two tables of the runs of Korthikanti et al. 2022 (arXiv:2205.05198), for a GPU of the first stage. The first one
compares figures 1 and 7 with what tessera simulate predicts from [software.memory] of the cluster's file. The figures
count layers alone; the last column has the whole stage, with the embedding and, if there is no other stage, the head.
The second one compares figure 1 with tessera report: what parameters need (weights, their copies in bf16, gradients and
the state of the optimizer), and what micro-batches in flight keep for backward.
"""
import argparse
import json
import tempfile

import published

FIGURES = "korthikanti2022_fig1_fig7_memory"
SEQUENCE, SELECTIVE = ["--sequence-parallel"], ["--recompute", "selective"]
# Flags of each setting, what it is called, and the column of its activations in GiB, or in percent of those of "none".
SETTINGS = {"none": ([], "`tp` alone", "act_none_gib"),
            "seq": (SEQUENCE, "sequence parallelism", "fig7_seq_pct"),
            "sel": (SELECTIVE, "selective recomputation", "fig7_sel_pct"),
            "seqsel": (SEQUENCE + SELECTIVE, "both", "act_seqsel_gib"),
            "full": (["--recompute", "full"], "full recomputation", "fig7_full_pct")}
STATES = ("weights", "gradients", "optimizer")


class Model:
    """The runs of one model, with each setting."""

    def __init__(self, run, tessera):
        self.name = run.label.split()[0]
        self.run, self.tessera = run, tessera
        # The run's own setting is the last of its flags.
        self.flags = run.flags[:-len(SETTINGS["full"][0])]

    def predict(self, setting):
        """Returns the GiB of a GPU of the first stage, of layers and of all: parameters and activations."""
        self.run.flags = self.flags + SETTINGS[setting][0]
        stage = self.run.simulate(self.tessera)["software_memory"]["stages"][0]
        return [(sum(part[kind] for kind in STATES) / 2 ** 30, part["activations"] / 2 ** 30)
                for part in (stage["of_layers"], stage["by_kind"])]

    def plan(self, setting):
        """Returns the GiB of Tessera's own plan: parameters and activations."""
        self.run.flags = self.flags + SETTINGS[setting][0]
        with tempfile.TemporaryDirectory() as folder:
            text = published.run([self.tessera, "report", self.run.write(folder), "--json"] + self.run.plan)
        kinds = json.loads(text)["memory"]["by_kind"]
        states = sum(kinds.get(kind, 0) for kind in STATES + ("weight copies",))
        return states / 2 ** 30, kinds["activations"] / 2 ** 30


def row(what, number, ours, unit, *more):
    """Writes a row; one that was not published has no number and no error."""
    number = float(number) if number else None
    cells = [what, f"{number:.2f} {unit}" if number else "-", f"{ours:.2f} {unit}",
             f"{100 * (ours / number - 1):+.1f} %" if number else "-", *more]
    print("| " + " | ".join(cells) + " |", flush=True)


def print_predictions(models, figures):
    print("| run | published | predicted | error | of the whole stage |")
    print("|---|---:|---:|---:|---:|")
    for model in models:
        figure = figures.get(model.name, {})
        results = {setting: model.predict(setting) for setting in SETTINGS}
        (states, alone), (states_of_stage, _) = results["none"]
        row(f"{model.name} parameters", figure.get("par_opt_gib"), states, "GiB", f"{states_of_stage:.2f} GiB")
        for setting, (_, name, column) in SETTINGS.items():
            (_, layers), (_, stage) = results[setting]
            if column.endswith("_gib"):
                row(f"{model.name} activations, {name}", figure.get(column), layers, "GiB", f"{stage:.2f} GiB")
            if setting != "none":
                row(f"{model.name} share, {name}", figure.get(f"fig7_{setting}_pct"), 100 * layers / alone, "%",
                    f"{stage:.2f} GiB")


def print_plans(models, figures):
    print("\n| run | published | plan | change |")
    print("|---|---:|---:|---:|")
    for model in models:
        figure = figures.get(model.name, {})
        for setting in ("none", "seqsel"):
            _, name, column = SETTINGS[setting]
            states, activations = model.plan(setting)
            if setting == "none":
                row(f"{model.name} parameters", figure.get("par_opt_gib"), states, "GiB")
            row(f"{model.name} activations, {name}", figure.get(column), activations, "GiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="only this one, as the tables name it")
    parser.add_argument("--tessera", default=f"{published.ROOT}/build/bin/tessera")
    options = parser.parse_args()
    models = [Model(run, options.tessera) for run in published.korthikanti_table5() if run.label.endswith(" full")]
    models = [model for model in models if options.model in ("", model.name)]
    figures = {line["model"]: line for line in published.table(FIGURES)}
    print_predictions(models, figures)
    print_plans(models, figures)


if __name__ == "__main__":
    main()
