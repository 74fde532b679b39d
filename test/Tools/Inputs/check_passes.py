"""Rebuilds the program after each pass from a page of --html, and checks what it says of it.

    check_passes.py PAGE [--dump DIRECTORY] [--like PAGE]

With a directory of --dump-ir, the ops that are shown must be there, and the passes have its numbers. With a page of a
smaller model, what is said of passes must not be much larger.
"""
import argparse
import json
import os
import re
import sys


def data_of(text, name):
    return json.loads(re.search(rf'id="{name}"[^>]*>(.*?)</script>', text, re.S)[1])


def programs(history):
    """Returns the name, number and lines of each pass."""
    lines = []
    for each in history["passes"]:
        now, at, added, removed = [], 0, 0, 0
        for kept, gone, come in each["edits"]:
            now += lines[at:at + kept]
            at += kept + gone
            assert at <= len(lines), (each["name"], at)
            now += [(history["facts"][facts], text) for facts, text in come]
            added, removed = added + len(come), removed + gone
        now += lines[at:]
        assert (added, removed) == (each["added"], each["removed"]), each["name"]
        assert now != lines, each["name"]
        lines = now
        yield each["name"], each["number"], lines


def check_names(name, lines):
    """Checks that each value is made once in its function."""
    made = set()
    for facts, text in lines:
        if facts["kind"] == "function":
            made = set()
        if facts["kind"] not in ("op", "argument"):
            continue
        left = text.split(":")[0] if facts["kind"] == "argument" else (re.match(r"((?:%[\w$.:-]+(?:, )?)+) = ", text) or [""])[0]
        for value in re.findall(r"%([\w$.-]+)", left):
            assert value not in made, f"{name}: %{value} is made twice: {text[:200]}"
            made.add(value)


def shape_of(text):
    """Returns the text without names of values."""
    return re.sub(r"%[\w$.-]+", "%", text).removeprefix("func.")


def check_dump(shown, directory):
    files = sorted(os.listdir(directory))
    for name, number, lines in shown:
        assert files[number] == f"{number:02}-{name}.mlir", (files[number], number, name)
        with open(os.path.join(directory, files[number]), encoding="utf-8") as file:
            dumped = {shape_of(line.strip()) for line in file}
        for facts, text in lines:
            isWhole = "more letters)" not in text and "#map" not in text
            isImplied = text in ("nn.yield", "rt.yield")  # not printed where it yields nothing
            if facts["kind"] == "op" and isWhole and not isImplied and not text.endswith("{"):
                assert shape_of(text) in dumped, f"{name}: {text}"


def history_of(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    return data_of(page, "passes") or data_of(page, "data")["passes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--dump")
    parser.add_argument("--like")
    arguments = parser.parse_args()
    history = history_of(arguments.page)
    shown = list(programs(history))
    for name, _, lines in shown:
        check_names(name, lines)
    if arguments.dump:
        check_dump(shown, arguments.dump)
    if arguments.like:
        sizes = [len(json.dumps(each)) for each in (history, history_of(arguments.like))]
        assert sizes[0] < 1.5 * sizes[1], sizes
    print(f"{arguments.page}: {len(shown)} passes")


main()
