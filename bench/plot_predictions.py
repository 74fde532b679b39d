"""Draws the errors of the tables that bench/published.py prints, one column per source. Needs matplotlib.

Usage: plot_predictions.py TABLES.md PLOT.svg   (docs/Predictions.md holds the tables)
"""
import pathlib
import re
import sys
import textwrap

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402 (after the choice of the backend)

MARKS = {"": ("o", "#2060c0", "predicted"), "f": ("x", "#888888", "a constant was fitted on it"),
         "c": ("s", "#d06020", "inputs were chosen")}
# The aim for each source: the mean and the worst error.
MEAN, WORST = 2.5, 6


def errors(text):
    """Returns (source, mark, error in %) of each row that was published."""
    source, found = "", []
    for line in text.splitlines():
        if heading := re.match(r"## (.*)", line):
            source = heading[1]
        if row := re.match(r"\| .* \| [\d.]+ \| [\d.]+ \| ([+-][\d.]+) % \| ?(\w?) ?\|$", line):
            found.append((source, row[2], float(row[1])))
    return found


def places(found, sources):
    """Returns the places of rows: those of a source side by side around its tick."""
    seen = dict.fromkeys(sources, 0)
    for source, _, _ in found:
        count = sum(own == source for own, _, _ in found)
        yield sources.index(source) + 0.045 * (seen[source] - (count - 1) / 2)
        seen[source] += 1


def draw(found, path):
    sources = list(dict.fromkeys(source for source, _, _ in found))
    figure, axes = pyplot.subplots(figsize=(8.5, 4.5))
    axes.axhspan(-WORST, WORST, color="#2060c0", alpha=0.06)
    axes.axhspan(-MEAN, MEAN, color="#2060c0", alpha=0.10)
    axes.axhline(0, color="black", linewidth=0.6)
    for mark, (marker, color, label) in MARKS.items():
        points = [(place, error) for place, (_, own, error) in zip(places(found, sources), found) if own == mark]
        axes.scatter([place for place, _ in points], [error for _, error in points], marker=marker, color=color, s=22,
                     label=label)
    axes.set_xticks(range(len(sources)), [textwrap.fill(source, 14) for source in sources], fontsize=7)
    axes.set_ylabel("error of the prediction, %")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = errors(pathlib.Path(sys.argv[1]).read_text())
    if not found:
        sys.exit(f"{sys.argv[1]} has no table of published and predicted numbers")
    draw(found, sys.argv[2])


if __name__ == "__main__":
    main()
