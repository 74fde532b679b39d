"""Draws the losses of a run, from the lines that tessera train --log writes.

    plot_loss.py steps.jsonl >loss.svg
"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 56, 20, 40, 44


def read(path):
    """Reads the losses of steps and of evaluations. A run that was resumed has steps twice; the later ones count."""
    steps, evaluations = {}, {}
    for line in open(path):
        entry = json.loads(line)
        if "loss" in entry:
            steps[entry["step"]] = entry["loss"]
        else:
            evaluations[entry["step"]] = entry["eval_loss"]
    return sorted(steps.items()), sorted(evaluations.items())


def ticks(low, high):
    """Returns about six round numbers in a range."""
    rough = (high - low) / 6
    size = 10 ** math.floor(math.log10(rough))
    size *= next(factor for factor in (1, 2, 5, 10) if factor * size >= rough)
    first = math.ceil(low / size)
    return [k * size for k in range(first, math.floor(high / size) + 1)]


class Plot:
    def __init__(self, steps, evaluations):
        losses = [loss for _, loss in steps + evaluations]
        self.last = steps[-1][0]
        self.low, self.high = math.floor(min(losses) * 2) / 2, math.ceil(max(losses) * 2) / 2
        self.parts = []

    def x(self, step):
        return LEFT + (WIDTH - LEFT - RIGHT) * step / self.last

    def y(self, loss):
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - loss) / (self.high - self.low)

    def text(self, x, y, words, anchor="middle", color="#444"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{words}</text>')

    def line(self, points, color, width):
        path = " ".join(f"{self.x(step):.1f},{self.y(loss):.1f}" for step, loss in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')

    def axes(self):
        for loss in ticks(self.low, self.high):
            self.line([(0, loss), (self.last, loss)], "#ddd", 1)
            self.text(LEFT - 8, self.y(loss) + 4, f"{loss:g}", "end")
        for step in ticks(0, self.last):
            self.text(self.x(step), HEIGHT - BOTTOM + 18, f"{step:g}")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "step")
        self.text(LEFT, 18, "loss in nats per token", "start")

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
                f'font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
                + "\n".join(self.parts) + "\n</svg>")


def main():
    steps, evaluations = read(sys.argv[1])
    plot = Plot(steps, evaluations)
    plot.axes()
    plot.line(steps, "#4477aa", 1)
    for step, loss in evaluations:
        plot.parts.append(f'<circle cx="{plot.x(step):.1f}" cy="{plot.y(loss):.1f}" r="4" fill="#cc3311"/>')
    plot.text(WIDTH - RIGHT, TOP + 14, "training", "end", "#4477aa")
    plot.text(WIDTH - RIGHT, TOP + 30, "held out", "end", "#cc3311")
    print(plot.svg())


main()
