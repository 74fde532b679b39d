#!/usr/bin/env python3
"""Asks where the fastest plan on this machine stands among those that tessera plan ranks.

usage: ranking.py --cluster FILE [--bin FOLDER] [--first N] [--others N] [--rounds N] [--steps N] [--quiet SHARE]
                  [--tries N] [--only TEXT]

FILE is what `tessera calibrate` wrote here. For each of ten cases (model, ranks, batch) tessera plan ranks the plans that
it compiles; the first of them, and others at equal distances behind these, are trained in turns. Prints at which predicted
rank the fastest one stands, and how much slower the best of the first three is than it. Of many plans that are equally
fast, the one with the fewest disturbed steps seems fastest. So if the fastest one is none of the first three, it and the
best of these are trained again, in more turns, and only these count. README.md says how to keep the machine quiet: what
else runs here decides which plan is the fastest.
"""
import json
import pathlib
import statistics
import subprocess
import tempfile

import predict

WITHIN = 3  # ranks from the first that count as found
# Model, ranks, sequences of a step.
CASES = [("GPT-2", 2, 8), ("GPT-2", 4, 8), ("GPT-2", 2, 16), ("GPT-2, wide", 2, 4), ("GPT-2, wide", 4, 8),
         ("LLaMA", 2, 4), ("LLaMA", 4, 8), ("BERT", 2, 8), ("T5", 2, 8), ("Mixtral", 2, 8)]


def parse():
    parser = predict.measuring_parser("bench/ranking.py", __doc__.splitlines()[0])
    parser.add_argument("--evaluations", type=int, default=40, help="most plans that a search compiles")
    parser.add_argument("--first", type=int, default=5, help="plans that are trained, from the best predicted on")
    parser.add_argument("--others", type=int, default=5, help="plans behind these that are trained too")
    parser.add_argument("--again", type=int, default=6, help="rounds of the two plans that are trained again")
    parser.add_argument("--only", default="", help="the cases whose label has this text")
    return parser.parse_args()


def words(chosen):
    """Returns the options of a plan as the command line has them."""
    for name, text in sorted(chosen.items()):
        if text in ("true", "false"):
            yield f"--{'' if text == 'true' else 'no-'}{name}"
        else:
            yield from (f"--{name}", text)


def without_batch(sizes):
    given = sizes.split()
    at = given.index("--batch")
    return given[:at] + given[at + 2:]


def chosen_ranks(count, first, others):
    """Returns places from 0: the first, and others at equal distances up to the last."""
    head = list(range(min(first, count)))
    rest = range(len(head), count)
    if not rest or not others:
        return head
    take = min(others, len(rest))
    return head + [rest[round(i * (len(rest) - 1) / max(take - 1, 1))] for i in range(take)]


class Trained:
    """A plan that was ranked, compiled to be run here."""

    def __init__(self, options, model, config, rank, plan, folder):
        self.rank, self.predicted, self.words = rank, plan["step_seconds"], list(words(plan["options"]))
        self.seconds = []
        self.artifact = folder / f"{model} {rank}.tsr"
        subprocess.run([options.bin / "tessera", "compile", config, *self.words, "--no-evaluation", "-o",
                        self.artifact], check=True, stdout=subprocess.DEVNULL)

    def measure(self, options):
        self.seconds += predict.train(options, self.artifact)

    @property
    def measured(self):
        return statistics.median(self.seconds)


class Case:
    def __init__(self, options, model, ranks, batch, folder):
        self.label = f"{model}, {ranks} ranks, batch {batch}"
        config, sizes, _ = predict.MODELS[model]
        path = folder / f"{model}.json"
        path.write_text(json.dumps(config))
        sizes = without_batch(sizes)
        text = subprocess.run([options.bin / "tessera", "plan", path, *sizes, "--cluster", options.cluster, "--gpus",
                               str(ranks), "--global-batch", str(batch), "--evaluations", str(options.evaluations),
                               "--plans", str(options.evaluations), "--json"],
                              check=True, capture_output=True, text=True).stdout
        found = json.loads(text)
        plans = [plan for plan in found["plans"] if plan["fits"]]
        self.ranked, self.complete = len(plans), found["complete"]
        self.trained = [Trained(options, f"{model} {ranks} {batch}", path, rank, plans[rank], folder)
                        for rank in chosen_ranks(len(plans), options.first, options.others)]

    def measure(self, options):
        """Measures all plans in turns, then those two again that decide how good the ranking is."""
        for _ in range(options.rounds):
            for plan in self.trained:
                plan.measure(options)
        self.order = predict.spearman([p.predicted for p in self.trained], [p.measured for p in self.trained])
        self.best = min(self.trained, key=lambda plan: plan.measured)
        self.loss = 0.0  # share by which the best of the first plans is slower than the fastest
        if self.best.rank < WITHIN:
            return
        first = min((plan for plan in self.trained if plan.rank < WITHIN), key=lambda plan: plan.measured)
        first.seconds, self.best.seconds = [], []
        for _ in range(options.again):
            first.measure(options)
            self.best.measure(options)
        self.loss = first.measured / self.best.measured - 1

    def row(self):
        best = self.best
        return (f"| {self.label} | {self.ranked} | {len(self.trained)} | {best.rank + 1} | {1e3 * best.predicted:.1f} | "
                f"{1e3 * best.measured:.1f} | {100 * self.loss:+.1f} % | {self.order:.2f} | `{' '.join(best.words)}` |")


def main():
    options = parse()
    cases = []
    print("| case | plans ranked | trained | rank of the fastest | predicted, ms | measured, ms | best of the first "
          f"{WITHIN} slower by | rank correlation | the fastest |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for model, ranks, batch in CASES:
        if options.only not in f"{model}, {ranks} ranks, batch {batch}":
            continue
        with tempfile.TemporaryDirectory() as folder:
            case = Case(options, model, ranks, batch, pathlib.Path(folder))
            case.measure(options)
        cases.append(case)
        print(case.row(), flush=True)
    found = sum(case.best.rank < WITHIN for case in cases)
    again = sum(case.best.rank >= WITHIN and case.loss <= 0 for case in cases)
    print(f"\nThe fastest plan is among the first {WITHIN} in {found} of {len(cases)} cases. In {again} of the others the "
          f"best of these was as fast when both were trained again; it was at most "
          f"{100 * max(case.loss for case in cases):.1f} % slower.")
    print(predict.loudness())
    if options.json:
        options.json.write_text(json.dumps(
            [{"case": case.label, "complete": case.complete,
              "plans": [{"rank": p.rank + 1, "options": p.words, "predicted": p.predicted, "seconds": p.seconds}
                        for p in case.trained]} for case in cases], indent=1) + "\n")


if __name__ == "__main__":
    main()
