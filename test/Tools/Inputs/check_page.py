"""Checks pages of --html without a browser.

    check_page.py PAGE JSON|LOG ...

Data are those of --json, or of a run those of its log (*.jsonl); nothing else is loaded, the library is there with its
license; and the numbers that pages draw agree with each other.
"""
import html.parser
import json
import math
import re
import sys

LASTING = ("weights", "optimizer", "caches", "inputs")


class Page(html.parser.HTMLParser):
    """Scripts and styles of a page, and all that it names."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.styles, self.links, self.title, self.open = [], [], [], "", ""
        self.data = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open = tag
        attributes = dict(attrs)
        self.links += [attributes[key] for key in ("src", "href", "data", "action", "srcset") if key in attributes]
        if tag == "script":
            self.scripts.append("")
            self.isdata = attributes.get("id") == "data"

    def handle_endtag(self, tag):
        self.open = ""

    def handle_data(self, data):
        if self.open == "script" and self.isdata:
            self.data = (self.data or "") + data
        elif self.open == "script":
            self.scripts[-1] += data
        elif self.open == "style":
            self.styles.append(data)
        elif self.open == "title":
            self.title += data


def check_document(text):
    page = Page(text)
    assert len(page.scripts) == 4, f"{len(page.scripts)} scripts; the data may have ended one"
    assert all(link == "data:," for link in page.links), page.links
    assert not re.search(r"url\((?!#)|@import", "".join(page.styles))
    library, own = page.scripts[2], page.scripts[3]
    assert "Chart.js v3.9.1" in library and "Permission is hereby granted" in library, library[:200]
    assert "fetch(" not in own and "import(" not in own and "XMLHttpRequest" not in own
    assert page.title
    return json.loads(page.data)


def check_tensors(data):
    axes = dict((axis, int(size)) for axis, size in re.findall(r"(\w+)=(\d+)", data["mesh"]))
    parameters = 0
    for tensor in data["tensors"]:
        local = list(tensor["shape"])
        for cut in tensor["cuts"]:
            bounds, dim = cut["bounds"], cut["dim"]
            assert len(bounds) == 1 + math.prod(axes[axis] for axis in cut["axes"]), tensor
            assert bounds[0] == 0 and bounds[-1] == tensor["shape"][dim] and bounds == sorted(bounds), tensor
            local[dim] = bounds[1]
        assert local == tensor["local_shape"], tensor
        if tensor["role"] == "parameter":
            parameters += math.prod(tensor["shape"]) * max(1, len(tensor["layers"]))
    assert parameters == data["parameters"], (parameters, data["parameters"])


def check_arena(arena):
    over = arena["over_step"]
    assert sum(arena["by_kind"].values()) == arena["bytes"], arena["by_kind"]
    always = sum(arena["by_kind"].get(kind, 0) for kind in LASTING)
    peak = next(point for point in over["points"] if point["at"] == over["peak"])
    sums = [sum(point["bytes"]) for point in over["points"]]
    assert sum(peak["bytes"]) == max(sums) and always + max(sums) <= arena["bytes"], (peak, arena)
    for kind, size in zip(over["kinds"], peak["bytes"]):
        if kind != "workspace":
            assert size == arena["by_kind"].get(kind, 0), (kind, size, arena["by_kind"])
        assert size == sum(each["bytes"] for each in over["alive"] if each["kind"] == kind), kind
    assert all(point["name"] or point["phase"] for point in over["points"][1:-1]), over["points"]


def check_schedule(pipeline):
    for stage in pipeline["times"]:
        ends = 0
        for task in stage:
            assert ends <= task["begin"] + 1e-12 < task["end"] <= 1 + 1e-12, task
            ends = task["end"]
        busy = sum(task["end"] - task["begin"] for task in stage)
        assert busy <= 1 + 1e-9
    idle = 1 - sum(task["end"] - task["begin"] for stage in pipeline["times"] for task in stage) / len(pipeline["times"])
    assert abs(idle - pipeline["bubble_by_flops"]) < 1e-9, (idle, pipeline["bubble_by_flops"])


def check_timeline(stage, step):
    device = stage["timeline"]["device"]
    assert abs(device[-1]["end"] - stage["end"]) < 1e-9 * step
    for before, after in zip(device, device[1:]):
        assert abs(before["end"] - after["begin"]) < 1e-9 * step, (before, after)
    for activity, seconds in stage["seconds"].items():
        found = sum(segment["seconds"].get(activity, 0) for segment in device)
        idle = step - stage["end"] if activity == "stages" else 0
        assert abs(found + idle - seconds) < 1e-9 * step, (activity, found, seconds)


def steps_of(lines):
    """Returns the lines of a log that count: a step that comes again begins a run, and later ones are lost."""
    kept, runs, lost, last = [], [], 0, None
    for line in lines:
        if "loss" in line:
            if line["step"] != (last or 0) + 1 or line.get("resumed") or not runs:
                runs.append({"first": line["step"], "seconds": 0})
                lost += sum("loss" in old and old["step"] >= line["step"] for old in kept)
                kept = [old for old in kept if old["step"] < line["step"]]
            last = line["step"]
        kept.append(line)
        if "time" in line:
            runs[-1]["seconds"] = line["time"]
    return kept, runs, lost


def ranges_of(numbers):
    ranges = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def check_run(data, lines):
    history = data["history"]
    kept, runs, lost = steps_of(lines)
    steps = [line for line in kept if "loss" in line]
    assert history["runs"] == runs and history["lost_steps"] == lost, (history["runs"], runs, lost)
    assert abs(history["seconds"] - sum(run["seconds"] for run in runs)) < 1e-9
    assert (history["count"], history["first"], history["last"]) == (len(steps), steps[0]["step"], steps[-1]["step"])
    assert history["skipped_steps"] == steps[-1]["skipped_steps"], history["skipped_steps"]
    for name, curve in history["curves"].items():
        assert curve == [[line["step"], line[name]] for line in steps], name
    assert {"loss", "grad_norm", "lr", "tokens_per_second"} <= set(history["curves"])
    skipped = [line["step"] for line in steps if line["loss"] is None or line["grad_norm"] is None]
    assert history["skipped"] == ranges_of(skipped), history["skipped"]
    assert history["evaluations"] == [line for line in kept if "eval_loss" in line], history["evaluations"]
    assert history["notes"] == [line for line in kept if "note" in line], history["notes"]
    assert "thinned_to_ranges" not in history and history["unread_lines"] == 0
    check_tensors(data["report"])
    check_arena(data["report"]["memory"])
    print(f"{data['state']} after step {history['last']} of {data['last_step']} in {len(runs)} runs, {len(skipped)} skipped")


def check_json(data):
    if "tensors" in data:
        check_tensors(data)
        for arena in [data["memory"], *data["memory"].get("stages", [])]:
            check_arena(arena)
        if "pipeline" in data:
            check_schedule(data["pipeline"])
    for stage in data.get("stages", []):
        check_timeline(stage, data["step_seconds"])


def main():
    for page, file in zip(sys.argv[1::2], sys.argv[2::2]):
        with open(page, encoding="utf-8") as source, open(file, encoding="utf-8") as printed:
            data = check_document(source.read())
            if file.endswith(".jsonl"):
                check_run(data, [json.loads(line) for line in printed])
            else:
                assert data == json.load(printed), "the data are not those of --json"
                check_json(data)
        print(f"{page} is fine")


main()
