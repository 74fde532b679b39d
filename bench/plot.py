"""Draws a result of bench/run.sh as an SVG: step time over the floor's, dots for single steps. Usage: plot.py result.json"""
import json
import sys

COLORS = {"floor": "#999999", "tessera": "#2060c0", "pytorch": "#d06020"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 360, 60, 40, 50


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def bar(x, width, result, unit, scale, color):
    """Draws a bar to the median, and a dot for each repetition."""
    bottom = HEIGHT - BOTTOM
    height = result["median"] / unit * scale
    yield f'<rect x="{x:.1f}" y="{bottom - height:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>'
    for second in result["seconds"]:
        y = max(bottom - second / unit * scale, TOP)
        yield f'<circle cx="{x + width / 2:.1f}" cy="{y:.1f}" r="2" fill="black" fill-opacity="0.5"/>'
    yield text(x + width / 2, bottom - height - 6, f"{result['median'] / unit:.2f}")


def axis(top, scale):
    for i in range(int(top) + 1):
        y = HEIGHT - BOTTOM - i * scale
        yield f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        yield text(LEFT - 8, y + 4, str(i), "end")


def legend():
    for i, (name, color) in enumerate(COLORS.items()):
        x = LEFT + 110 * i
        yield f'<rect x="{x}" y="12" width="12" height="12" fill="{color}"/>'
        yield text(x + 18, 22, name, "start")
    yield text(WIDTH - 10, 22, "step time / floor (oneDNN products alone)", "end")


def draw(results):
    rows = [row for row in results["rows"] if "floor" in row]
    present = [row[name]["median"] / row["floor"]["median"] for row in rows for name in COLORS if name in row]
    top = max([*present, 1]) * 1.15
    scale = (HEIGHT - TOP - BOTTOM) / top
    group = (WIDTH - LEFT - 10) / max(len(rows), 1)
    body = [*axis(top, scale), *legend()]
    for i, row in enumerate(rows):
        x = LEFT + i * group
        width = group * 0.8 / len(COLORS)
        for j, (name, color) in enumerate(COLORS.items()):
            if name in row:
                body += bar(x + group * 0.1 + j * width, width - 2, row[name], row["floor"]["median"], scale, color)
        body.append(text(x + group / 2, HEIGHT - BOTTOM + 18, f"{row['size']} {row['precision']}"))
    machine = results["machine"]
    body.append(text(WIDTH / 2, HEIGHT - 10, f"{machine['cpu']}, {machine['threads']} threads, {machine['date'][:10]}"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
            f'font-size="12"><rect width="100%" height="100%" fill="white"/>{chr(10).join(body)}</svg>\n')


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print(draw(json.load(file)), end="")
