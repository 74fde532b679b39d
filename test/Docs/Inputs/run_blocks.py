"""Runs the commands that a document shows and compares their output with what the document says.

    run_blocks.py [--update] SOURCE_DIR BUILD_DIR SCRATCH_DIR DOCUMENT...

A block that begins with ```console is a session: a line `$ command` (with the lines after a trailing backslash) is run
by bash in SCRATCH_DIR, which looks like the root of the repository; the lines up to the next command are its output.
A command must succeed, unless its quoted output holds `error:` or `FAILED`: then it must fail. In quoted output

* a line `...` stands for any lines, and `...` inside of a line for any text;
* all runs of spaces are equal, and blank lines do not count.

An HTML comment on the line before a block says more about it:

    <!-- run: numbers vary -->      numbers stand for any numbers, as in times and losses
    <!-- run: no, REASON -->        the block is not run here
    <!-- file: PATH -->             the block quotes this file; spaces, line breaks and `...` as above

Other blocks (```text, ```mlir, ...) are illustration. With --update, output that differs is written into the document,
unless it is elided by `...`.
"""
import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass

NUMBER = r"\d+(?:[.:]\d+)*(?:e[-+]?\d+)?"
DIRECTIVE = re.compile(r"^\s*<!--\s*(run|file):\s*(.*?)\s*-->\s*$")


@dataclass
class Block:
    """A fenced block: its language, its lines, the index of the first one, and the directive before it."""
    language: str
    first: int
    lines: list
    verb: str
    argument: str


@dataclass
class Step:
    """A command of a session and the output that the document gives for it, from line `first` of the document on."""
    command: str
    first: int
    output: list


def blocks_of(lines):
    """Returns the fenced blocks of a document."""
    index = 0
    while index < len(lines):
        fence = re.match(r"^( *)```(\w*)\s*$", lines[index])
        if not fence:
            index += 1
            continue
        directive = DIRECTIVE.match(lines[index - 1]) if index else None
        verb, argument = directive.groups() if directive else ("", "")
        first = index = index + 1
        while index < len(lines) and lines[index].strip() != "```":
            index += 1
        body = [line[len(fence[1]):] for line in lines[first:index]]
        yield Block(fence[2], first, body, verb, argument)
        index += 1


def steps_of(block):
    """Returns the commands of a session with their outputs."""
    steps = []
    continued = False
    for number, line in enumerate(block.lines, block.first):
        if continued:
            steps[-1].command += "\n" + line
        elif line.startswith("$ "):
            steps.append(Step(line[2:], 0, []))
        elif not steps:
            raise ValueError(f"line {number + 1}: output before the first command")
        else:
            steps[-1].output.append(line)
            continue
        continued = line.endswith("\\")
        steps[-1].first = number + 1
    return steps


def pattern_of(lines, numbers_vary):
    """Returns a regular expression for the output that quoted lines stand for."""
    special = rf"({NUMBER}|\.\.\.)" if numbers_vary else r"(\.\.\.)"
    pattern = ""
    for line in lines:
        line = " ".join(line.split())
        if line == "...":
            pattern += r"(?:.*\n)*?"
        elif line:
            pieces = re.split(special, line)
            pattern += "".join(re.escape(piece) if number % 2 == 0 else ".*?" if piece == "..." else NUMBER
                               for number, piece in enumerate(pieces)) + r"\n"
    return pattern


def plain(text):
    """Returns the output without runs of spaces and blank lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "".join(line + "\n" for line in lines if line)


class Runner:
    """Checks documents; counts what it checked and what differed."""

    def __init__(self, source, build, scratch, update):
        self.source, self.scratch, self.update = source, scratch, update
        self.checked = self.failures = 0
        self.environment = dict(os.environ, LC_ALL="C", TERM="dumb")
        self.environment["PATH"] = os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]
        # The scratch directory holds what a command reads under its path in the repository, and keeps what the command
        # writes.
        os.makedirs(scratch)
        for name in os.listdir(source):
            if not name.startswith(".") and name not in ("build", "runs"):
                os.symlink(os.path.join(source, name), os.path.join(scratch, name))
        os.symlink(build, os.path.join(scratch, "build"))

    def fail(self, place, message, **texts):
        self.failures += 1
        print(f"{place}: {message}")
        for title, text in texts.items():
            print(f"--- {title}\n{text.rstrip()}")

    def run(self, command):
        result = subprocess.run(["bash", "-c", command], cwd=self.scratch, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return result.returncode, result.stdout

    def check_step(self, name, step, numbers_vary):
        """Runs a command; returns its output if the document should have it."""
        self.checked += 1
        place = f"{name}:{step.first}: {step.command.splitlines()[0]}"
        status, actual = self.run(step.command)
        fails = any("error:" in line or "FAILED" in line for line in step.output)
        if (status != 0) != fails:
            self.fail(place, f"exit status {status}", output=actual)
        elif not re.fullmatch(pattern_of(step.output, numbers_vary), plain(actual)):
            self.fail(place, "the output differs", document="\n".join(step.output), output=actual)
            if not any("..." in line for line in step.output):
                return actual.rstrip("\n").split("\n")
        return None

    def check_quotation(self, name, block):
        """Checks that the text of the block is in the file, up to spaces and line breaks."""
        self.checked += 1
        place = f"{name}:{block.first}"
        try:
            with open(os.path.join(self.scratch, block.argument), encoding="utf-8") as file:
                text = " ".join(file.read().split())
        except OSError as error:
            self.fail(place, str(error))
            return
        pieces = "\n".join(block.lines).split("...")
        if not re.search(".*?".join(re.escape(" ".join(piece.split())) for piece in pieces), text):
            self.fail(place, f"not in {block.argument}", document="\n".join(block.lines))

    def check(self, path):
        """Checks all blocks of a document, in order; with `update`, corrects it."""
        name = os.path.relpath(path, self.source)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        corrections = []
        for block in blocks_of(lines):
            if block.verb == "file":
                self.check_quotation(name, block)
            elif block.language == "console" and not block.argument.startswith("no"):
                for step in steps_of(block):
                    actual = self.check_step(name, step, block.argument == "numbers vary")
                    if actual is not None:
                        corrections.append((step, actual))
        if not self.update:
            return
        for step, actual in reversed(corrections):
            lines[step.first:step.first + len(step.output)] = actual
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("scratch")
    parser.add_argument("documents", nargs="+")
    arguments = parser.parse_args()
    runner = Runner(arguments.source, arguments.build, arguments.scratch, arguments.update)
    for document in arguments.documents:
        runner.check(document)
    print(f"{runner.checked} commands and quotations checked, {runner.failures} differ")
    sys.exit(1 if runner.failures or not runner.checked else 0)


main()
