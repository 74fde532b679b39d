"""Checks the help of `tessera` and of each of its commands.

    check_help.py MODEL

Lines fit a terminal of 80 columns; defaults are said in words; each group of options has an example, and the examples
of `compile` compile the model, in the current directory, unless they are about a GPU.
"""
import re
import shlex
import subprocess
import sys

WIDTH = 80
# Texts that parsers of command lines print of their own accord.
NOISE = [r"\{", r"\}", r"\w=\S*\d\b(?!.*e\.g\.)", r"Excludes:", r"\bTEXT\b", r"\bREQUIRED\b", r":\{"]
# Examples of values belong to these.
MAY_EQUAL = ("e.g.", "AXIS=SIZE", "Example:", "--layout-invariant=N")


def help_of(words):
    return subprocess.run(["tessera", *words, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def problems(title, text):
    """Returns lines that are too wide or say what a parser would."""
    for line in text.split("\n"):
        if len(line) > WIDTH:
            yield f"{title}: {len(line)} columns: {line}"
        for pattern in NOISE:
            if re.search(pattern, line) and not any(word in line for word in MAY_EQUAL):
                yield f"{title}: noise: {line}"


def groups_of(text):
    """Titles of groups with the lines below."""
    for part in text.split("\n\n"):
        lines = part.strip("\n").split("\n")
        if re.fullmatch(r"[A-Z][\w ]+:", lines[0]) and lines[0] not in ("Commands:", "Options:"):
            yield lines[0], lines[1:]


def main():
    model = sys.argv[1]
    top = help_of([])
    commands = re.findall(r"^  (\w+) ", top.split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    assert commands, top
    found = list(problems("tessera", top))
    for command in commands:
        text = help_of([command])
        found += problems(command, text)
        if "Example: tessera " + command not in text:
            found.append(f"{command}: no example")
        for title, lines in groups_of(text):
            if not lines[0].startswith("  e.g. "):
                found.append(f"{command}: {title} has no example")
            elif command == "compile" and "cuda" not in lines[0]:
                example = shlex.split(lines[0].removeprefix("  e.g. "))
                result = subprocess.run(["tessera", "compile", model, *example], check=False, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                if result.returncode:
                    found.append(f"{command}: {title} {' '.join(example)}: {result.stdout}")
    print("\n".join(found) or f"{len(commands)} commands are fine")
    sys.exit(bool(found))


main()
