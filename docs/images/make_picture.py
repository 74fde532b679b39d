"""Draws a distributed model from the compiler's own output: parameters as tiles on the mesh, and collectives.

    make_picture.py CONFIG >two-layers.svg        (tessera and tessera-opt on PATH)

The typed program, forward and backward, is the source of everything: the states of the function's arguments say what a
rank holds of each parameter, and each conversion that communicates is a collective.
"""
import itertools
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

MESH = {"dp": 2, "tp": 2}
RANKS = [(dp, tp) for dp in range(MESH["dp"]) for tp in range(MESH["tp"])]

LEFT, PANEL, GAP, TOP = 214, 146, 16, 104
RIGHT = LEFT + 4 * PANEL + 3 * GAP + 14
WIDTH = RIGHT + 222
TILES = 58
BAND = 90


@dataclass
class Tensor:
    """A type: shape, and the dimension that each axis shards."""
    shape: list
    sharded: dict

    def bytes_of_rank(self):
        """Returns the bytes of a rank's part; elements have four."""
        local = list(self.shape)
        for axis, dim in self.sharded.items():
            local[dim] = -(-local[dim] // MESH[axis])
        return 4 * math.prod(local)


@dataclass
class Parameter:
    name: str
    type: Tensor
    file_shape: list


@dataclass
class Part:
    """A part of the model: what it reads, and its collectives as (kind, axis, bytes)."""
    name: str
    parameters: list = field(default_factory=list)
    forward: list = field(default_factory=list)
    backward: list = field(default_factory=list)
    gradients: list = field(default_factory=list)


def typed_program(config):
    """Returns the forward and backward program with states in its types and a location for every op."""
    with tempfile.TemporaryDirectory() as scratch:
        serial = os.path.join(scratch, "serial.mlir")
        subprocess.run(["tessera", "import", config, "--batch", "8", "-o", serial], check=True, stdout=sys.stderr)
        mesh = ",".join(f"{axis}={size}" for axis, size in MESH.items())
        return subprocess.run(["tessera-opt", serial, f"--dist-distribute=mesh={mesh}", "--nn-differentiate",
                               "--mlir-print-debuginfo"], check=True, stdout=subprocess.PIPE, text=True).stdout


def tensor_of(text):
    """Returns the type in `tensor<8x32xi32, #dist<dp: S(0), tp: P>>`."""
    shape = [int(size) for size in re.findall(r"(\d+)x", re.match(r"tensor<([^,>]*)", text)[1])]
    return Tensor(shape, {axis: int(dim) for axis, dim in re.findall(r"(\w+): S\((\d+)", text)})


def arguments_of(program):
    """Returns the function's arguments by name: parameters, and the tokens."""
    header = next(line for line in program.split("\n") if "func.func" in line).split(") -> (")[0]
    arguments = {}
    for text in re.split(r", (?=%arg\d+:)", header[header.index("(") + 1:]):
        name, described = text.split(": ", 1)
        parameter = re.search(r'nn\.param = "([^"]*)"', text)
        kind = tensor_of(described)
        if parameter:
            file_shape = re.search(r"nn\.file_shape = \[([^\]]*)\]", text)
            sizes = [int(size) for size in file_shape[1].split(",")] if file_shape else kind.shape
            arguments[name] = Parameter(parameter[1].removeprefix("transformer."), kind, sizes)
        else:
            arguments[name] = Parameter("tokens", kind, kind.shape)
    return arguments


def parts_of(program):
    """Returns the parts of the model in the order of the program. A norm belongs to what follows it, the head to the
    loss."""
    locations = dict(re.findall(r'^(#loc\d+) = loc\("([^"]*)"\(', program, re.M))
    order = []
    values = arguments_of(program)
    ops = [line for line in program.split("\n") if " = " in line and line.startswith("    %")]
    for op in ops:
        name = locations.get(re.search(r"loc\((#loc\d*)\)$", op)[1])
        if name and name not in order:
            order.append(name)
    part_of = {}
    pending = []
    parts = []
    for name in order:
        pending.append(name)
        if "ln_" in name or name == "head":
            continue
        parts.append(Part(name))
        part_of.update({location: parts[-1] for location in pending})
        pending = []
    for op in ops:
        part = part_of[locations[re.search(r"loc\((#loc\d*)\)$", op)[1]]]
        result = op.split(" = ")[0].strip()
        conversion = re.search(r'dist\.convert +(\w+) (%[\w#]+) on "?(\w+)"?.* -> (tensor<.*>) loc', op)
        if not conversion:
            if "backward" not in op:
                for operand in re.findall(r"%\w+", op.split(" = ")[1]):
                    if operand in values and values[operand] not in part.parameters:
                        part.parameters.append(values[operand])
            continue
        kind, operand, axis, result_type = conversion.groups()
        if operand in values:
            values[result] = values[operand]
        if not kind.startswith(("all_", "reduce_")) or kind == "all_slice":
            continue
        collective = (kind, axis, tensor_of(result_type).bytes_of_rank())
        if "backward" not in op:
            part.forward.append(collective)
        else:
            (part.gradients if axis == "dp" else part.backward).append(collective)
    return parts


def size_text(count):
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KiB"


def length(size):
    """Returns the length of a side in the picture: areas are as sizes, so that all of them can be seen."""
    return round(3.6 * math.sqrt(size))


def ranges(parameter, rank):
    """Returns the part that a rank holds, per dimension of the file's shape: runs of it as fractions of its size."""
    shape = list(parameter.type.shape)
    result = []
    for size in parameter.file_shape:
        # The dimensions that the file's one consists of.
        group, product = [], 1
        while product < size:
            group.append(len(parameter.type.shape) - len(shape))
            product *= shape.pop(0)
        runs = [(0.0, 1.0)]
        for axis, dim in parameter.type.sharded.items():
            if dim not in group:
                continue
            outer = math.prod(parameter.type.shape[d] for d in group if d < dim)
            coordinate, count = rank[list(MESH).index(axis)], MESH[axis]
            runs = [((i + coordinate / count) / outer, (i + (coordinate + 1) / count) / outer) for i in range(outer)]
        result.append(runs)
    return result


class Picture:
    """Collects SVG elements from top to bottom."""

    def __init__(self):
        self.elements = []
        self.y = TOP

    def add(self, text):
        self.elements.append(text)

    def text(self, x, y, content, style="", anchor="start"):
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.add(f'<text x="{x}" y="{y}" class="{style}"{end}>{content}</text>')

    def panel_x(self, rank):
        return LEFT + rank * (PANEL + GAP)

    def tile(self, x, y, parameter, rank):
        """Draws a parameter as a rectangle, filled where the rank holds it; returns its width."""
        sizes = parameter.file_shape
        height = length(sizes[0])
        width = length(sizes[1]) if len(sizes) > 1 else 5
        top = y + 7 + (TILES - height) / 2
        rows, columns = (ranges(parameter, rank) + [[(0.0, 1.0)]])[:2]
        shards = parameter.type.sharded
        color = "all" if not shards else f"tp{rank[1]}" if "tp" in shards else f"dp{rank[0]}"
        for low, high in rows:
            for left, right in columns:
                self.add(f'<rect x="{x + left * width:g}" y="{top + low * height:g}" width="{(right - left) * width:g}" '
                         f'height="{(high - low) * height:g}" class="{color}"/>')
        self.add(f'<rect x="{x}" y="{top:g}" width="{width}" height="{height}" class="outline"/>')
        return width

    def links(self, axis, style):
        """Draws lines between the ranks of each group of an axis; those of dp cross, so they lie one above the other."""
        stride = 1 if axis == "tp" else MESH["tp"]
        for first in range(len(RANKS)):
            if first // stride % 2:
                continue
            y = self.y + (6 * first if axis == "dp" else 0)
            x0, x1 = (self.panel_x(rank) + PANEL / 2 for rank in (first, first + stride))
            self.add(f'<path d="M{x0:g} {y}H{x1:g}" class="{style}"/>')
            for x in (x0, x1):
                self.add(f'<circle cx="{x:g}" cy="{y}" r="3" class="{style} dot"/>')

    def collectives(self, collectives, style, arrow):
        """Draws a line for each run of collectives over one axis and of one size."""
        for (axis, count), run in itertools.groupby(collectives, key=lambda collective: collective[1:]):
            kinds = [kind for kind, _, _ in run]
            self.y += 11
            self.links(axis, style)
            y = self.y + (7 if axis == "dp" else 4)
            where = f"over {axis}, {size_text(count)}" + (" each" if len(kinds) > 1 else "")
            if len(kinds) > 1:
                self.text(RIGHT, y - 4, f"{arrow} {' and '.join(kinds)}", style)
                self.text(RIGHT + 15, y + 10, where, style)
            else:
                self.text(RIGHT, y, f"{arrow} {kinds[0]} {where}", style)
            self.y += (11 if axis == "tp" else 17) + (6 if len(kinds) > 1 else 0)

    def title_of(self, name):
        layer = re.match(r"h\.(\d+)\.(\w+)", name)
        words = {"attn": "attention", "mlp": "MLP", "loss": "head and loss"}
        return f"layer {layer[1]}, {words[layer[2]]}" if layer else words.get(name, name)

    def part(self, part):
        self.collectives(part.backward, "backward", "&#8593;")
        # Names of matrices; norms and biases are the thin tiles.
        self.text(16, self.y + 16, self.title_of(part.name), "strong")
        line = self.y + 34
        for parameter in part.parameters:
            if len(parameter.file_shape) < 2:
                continue
            shards = ", ".join(f"{axis}: S({dim})" for axis, dim in parameter.type.sharded.items()) or "whole"
            shape = "&#215;".join(str(size) for size in parameter.type.shape)
            name = re.sub(r"^h\.\d+\.\w+\.|\.weight$", "", parameter.name)
            self.text(16, line, f"{name} {shape}, {shards}", "mono")
            line += 15
        for number, rank in enumerate(RANKS):
            x = self.panel_x(number)
            self.add(f'<rect x="{x}" y="{self.y}" width="{PANEL}" height="{BAND}" rx="4" class="panel"/>')
            x += 10
            for parameter in part.parameters:
                x += self.tile(x, self.y, parameter, rank) + 4
        self.y += BAND
        if part.gradients:
            total = size_text(sum(count for _, _, count in part.gradients))
            kind, axis, _ = part.gradients[0]
            self.text(RIGHT, self.y - 34, f"&#8593; gradients: {kind} over {axis},", "gradient")
            self.text(RIGHT + 15, self.y - 19, f"{len(part.gradients)} tensors, {total}", "gradient")
            self.y -= 12
            self.links(axis, "gradient")
            self.y += 12
        self.collectives(part.forward, "forward", "&#8595;")
        self.y += 10

    def header(self, tokens):
        self.text(16, 30, "A GPT-2 of two layers on dp=2,tp=2", "title")
        self.text(16, 50, "drawn from the typed program that the compiler makes of its config.json", "")
        for number, (dp, tp) in enumerate(RANKS):
            self.text(self.panel_x(number) + PANEL / 2, 78, f"rank {number}: dp {dp}, tp {tp}", "strong", "middle")
            batch = tokens.type.shape[0]
            share = batch // MESH["dp"] if "dp" in tokens.type.sharded else batch
            self.text(self.panel_x(number) + PANEL / 2, 95, f"sequences {dp * share} to {(dp + 1) * share - 1}", "",
                      "middle")

    def legend(self):
        self.y += 14
        x = 16
        for style, words in (("tp0", "shard of tp 0"), ("tp1", "shard of tp 1"), ("all", "whole on every rank"),
                             ("", "not on this rank")):
            self.add(f'<rect x="{x}" y="{self.y - 10}" width="13" height="13" class="{style or "outline"}"/>')
            if style:
                self.add(f'<rect x="{x}" y="{self.y - 10}" width="13" height="13" class="outline"/>')
            self.text(x + 19, self.y + 1, words)
            x += 40 + 7 * len(words)
        self.text(x, self.y + 1, "thin tiles: norms and biases")
        self.text(RIGHT, self.y + 1, "&#8595; forward", "forward")
        self.text(RIGHT + 76, self.y + 1, "&#8593; backward", "backward")
        self.y += 18


# One rule per class; the second colour is for dark pages.
COLORS = {
    "page": ("fill", "#ffffff", "#161b22"), "panel": ("fill", "#f1f3f5", "#21262d"),
    "outline": ("stroke", "#8b949e", "#8b949e"),
    "tp0": ("fill", "#3b82d6", "#4c93e6"), "tp1": ("fill", "#e8952f", "#e8952f"), "all": ("fill", "#a3acb8", "#7d8792"),
    "forward": ("stroke", "#24292f", "#e6edf3"), "backward": ("stroke", "#b3378c", "#e883c6"),
    "gradient": ("stroke", "#2a7d4f", "#5cc48a"),
}


def style():
    """Returns the style sheet; text has the colour of its class as fill."""
    def rules(index):
        lines = [f"text {{ fill: {('#24292f', '#e6edf3')[index]}; }}"]
        for name, (kind, *colors) in COLORS.items():
            lines.append(f".{name} {{ {kind}: {colors[index]}; }}")
            if name in ("forward", "backward", "gradient"):
                lines.append(f"text.{name}, .{name}.dot {{ fill: {colors[index]}; stroke: none; }}")
        return lines
    always = ["text { font: 12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }",
              ".title { font-size: 17px; font-weight: 600; }", ".strong { font-weight: 600; }",
              ".mono { font: 11px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace; }",
              ".outline { fill: none; stroke-width: 1; }", "path { fill: none; stroke-width: 2; }",
              "path.backward { stroke-dasharray: 5 3; }"]
    dark = ["@media (prefers-color-scheme: dark) {", *("  " + line for line in rules(1)), "}"]
    return "<style>\n" + "\n".join(always + rules(0) + dark) + "\n</style>"


def main():
    parts = parts_of(typed_program(sys.argv[1]))
    tokens = next(p for part in parts for p in part.parameters if p.name == "tokens")
    for part in parts:
        part.parameters = [parameter for parameter in part.parameters if parameter.name != "tokens"]
    picture = Picture()
    picture.header(tokens)
    for part in parts:
        picture.part(part)
    picture.legend()
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {picture.y}" width="{WIDTH}" '
          f'height="{picture.y}" role="img">')
    print("<title>Parameters of a two-layer GPT-2 on a mesh of four ranks, and its collectives</title>")
    print(style())
    print(f'<rect width="{WIDTH}" height="{picture.y}" rx="8" class="page"/>')
    print("\n".join(picture.elements))
    print("</svg>")


main()
