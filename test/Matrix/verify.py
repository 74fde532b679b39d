"""Runs `tessera verify` on a model with flags and says how it ended."""
import os
import re
import shlex
import subprocess
from dataclasses import dataclass

# A collective that waits for a rank that never comes must not stop the tests.
TIMEOUT_SECONDS = 300
# Importing a program decides these options, so that verify finds them in the program.
IMPORT_FLAGS = ("--batch", "--seq-length", "--micro-batches", "--separator")
IMPORT_SWITCHES = ("--document-mask", "--padding-mask")


@dataclass
class Outcome:
    ok: bool
    kind: str  # the same for two failures with the same cause, as far as one can tell
    output: str
    command: str  # can be pasted


def verify(tessera, model, flags, program=None):
    """Verifies a config.json, or the .mlir that is imported from it into the file `program`."""
    commands = []
    if program:
        sizes = [word for flag, value in zip(flags, flags[1:]) if flag in IMPORT_FLAGS for word in (flag, value)]
        sizes += [flag for flag in flags if flag in IMPORT_SWITCHES]
        commands.append([tessera, "import", model, *sizes, "-o", program])
    commands.append([tessera, "verify", program or model, *flags])
    line = " && ".join(shlex.join(command) for command in commands)
    if program:  # the file is a temporary one
        line = line.replace(program, os.path.basename(program))
    for command in commands:
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome(False, "timeout", f"no end after {TIMEOUT_SECONDS} s", line)
        if run.returncode:
            break
    output = run.stdout + run.stderr
    return Outcome(run.returncode == 0, kindOf(run.returncode, output), output, line)


def kindOf(code, output):
    if code == 0:
        return "ok"
    if code < 0 or code > 2:
        return f"exit code {code}"
    messages = re.findall(r"FAILED: \w+|error: .*", output)
    return re.sub(r"\d+", "N", " ".join(messages)) or "failed"


def defaultTessera():
    """Returns the program of the build next to this source tree."""
    root = os.path.relpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    return os.path.join(root, "build", "bin", "tessera")
