"""Draws a result of bench/gpu/run.py as an SVG: tokens/s of each model over the better PyTorch's, by median steps; the
line of a bar goes from its slowest to its fastest step. Usage: plot_gpu.py result.json; writes result.svg beside it."""
import json
import pathlib
import sys

from plot import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, text

BARS = {"tessera": ("Tessera", "#2060c0"), "tessera without cuDNN": ("own attention", "#80a8e0"),
        "pytorch compile+graphs": ("PyTorch, compile and graphs", "#d06020"),
        "pytorch compile": ("PyTorch, compile", "#e8b090")}
MOST = 1.2
SCALE = (HEIGHT - TOP - BOTTOM) / MOST


def axis():
    for i in range(0, 13, 2):
        y = HEIGHT - BOTTOM - i / 10 * SCALE
        yield f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield text(LEFT - 8, y + 4, f"{i / 10:.1f}", "end")


def legend():
    x = LEFT
    for name, color in BARS.values():
        yield f'<rect x="{x}" y="12" width="12" height="12" fill="{color}"/>'
        yield text(x + 18, 22, name, "start")
        x += 40 + 6.5 * len(name)


def bar(x, width, entry, best, color):
    bottom = HEIGHT - BOTTOM
    heights = {key: best / entry[key] * SCALE for key in ("seconds_per_step", "fastest", "slowest")}
    height = heights["seconds_per_step"]
    yield f'<rect x="{x:.1f}" y="{bottom - height:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'
    middle = x + width / 2
    yield (f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{bottom - heights["slowest"]:.1f}" '
           f'y2="{bottom - heights["fastest"]:.1f}" stroke="black"/>')
    yield text(middle, bottom - heights["fastest"] - 4, f"{height / SCALE:.2f}")


def draw(models):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
             'font-size="11">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *legend(), *axis()]
    group = (WIDTH - LEFT - 10) / len(models)
    width = group * 0.8 / len(BARS)
    for i, (model, entries) in enumerate(models.items()):
        best = min(entries[name]["seconds_per_step"] for name in BARS if name.startswith("pytorch"))
        start = LEFT + group * (i + 0.1)
        for j, (name, (_, color)) in enumerate(BARS.items()):
            parts += bar(start + width * j, width, entries[name], best, color)
        parts.append(text(start + group * 0.4, HEIGHT - BOTTOM + 18, f"GPT-2 {model.upper()}"))
    return "\n".join(parts + ["</svg>\n"])


def main():
    path = pathlib.Path(sys.argv[1])
    models = json.loads(path.read_text())["models"]
    order = sorted(models, key=lambda model: int(model.rstrip("m")))
    path.with_suffix(".svg").write_text(draw({model: models[model] for model in order}))


if __name__ == "__main__":
    main()
