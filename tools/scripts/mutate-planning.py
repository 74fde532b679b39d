#!/usr/bin/env python3
"""Mutation testing of memory planning: changes one place of lib/Memory at a time, and expects that a test fails.

Usage: mutate-planning.py [--count N] [--seed S] [--directory BUILD] [FILE[:LINE[-LINE]]...]

BUILD (build) is a finished build with tests. A mutant is compiled alone and linked into the tools; it is killed by the
tests of its folder, by `tessera verify` of programs that use every way in which memory is planned, or by the tests of
what `tessera report` says of memory. What does not compile is replaced by the next one. A test that takes too long
counts as failed. Prints each mutant that nothing notices, and the totals; exit code 1 if there is one, 2 if the tests
fail without a change. The tests run without network and without write access to the machine (bubblewrap).
"""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import mutation
from mutation import ROOT, run, stop

FOLDER = "lib/Memory"
LIT = ["/usr/lib/llvm-22/bin/lit", "-q", "-j1", "--max-failures=1"]
TINY = "test/Tools/Inputs/tiny"
EXPERTS = "test/Tools/Inputs/few-experts.json"
# Loops, tasks, frames and stages; coalesced and asynchronous collectives; rings; rounds of experts; caches.
VERIFIED = [
    f"{TINY} --mesh dp=2,tp=2 --micro-batches 2 --sequence-parallel --recompute selective",
    f"{TINY} --mesh pp=2,dp=2 --micro-batches 4 --zero 3",
    f"{TINY} --mesh pp=2,tp=2 --micro-batches 6 --schedule zero-bubble --recompute full",
    f"{TINY} --mesh dp=2,cp=2 --context-parallel ring --zero 1 --clip 0",
    f"{EXPERTS} --mesh ep=2 --expert-buffer 0.7 --precision bf16",
    f"{TINY} --mesh tp=2 --programs generate",
]
REPORTED = "compile-and-report|zero-memory|recompute|too-large|reasons|report-loads"


class Tools:
    """The tools of a build, with a mutant in the place of one source."""

    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, "compile_commands.json")) as file:
            entries = json.load(file)
        self.flags = next((shlex.split(entry["command"]) for entry in entries
                           if f"/{FOLDER}/" in entry["file"]), None) or stop(f"{directory} does not build {FOLDER}")
        self.sources = sorted(f"{FOLDER}/{name}" for name in os.listdir(os.path.join(ROOT, FOLDER))
                              if name.endswith(".cpp"))
        self.scratch = tempfile.TemporaryDirectory(prefix="mutate-planning-")
        self.objects = {source: self.path(source.replace("/", "_") + ".o") for source in self.sources}
        for source in self.sources:
            if not self.compile(source, os.path.join(ROOT, source), self.objects[source]):
                stop(f"cannot compile {source}")

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def compile(self, source, text_file, target):
        """Compiles `text_file` as if it stood where `source` is; false if it does not compile."""
        command = list(self.flags)
        command[command.index("-o") + 1] = target
        command[command.index("-c") + 1] = text_file
        command.append("-I" + os.path.dirname(os.path.join(ROOT, source)))
        return subprocess.run([*command, "-w"], cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=300).returncode == 0

    def link(self, program, source, changed):
        """Links bin/`program` with the changed object; where it is, or None."""
        name, target = f"bin/{program}", self.path(program)
        commands = run(["ninja", "-C", self.directory, "-t", "commands", "-s", name])
        command = shlex.split(next(part for part in commands.split(" && ") if f" -o {name}" in part))
        at = command.index("-o")
        command[at + 1] = target
        # Before the archives, whose members are then not asked for.
        command[at:at] = [*(path for each, path in self.objects.items() if each != source), changed]
        done = subprocess.run(command, cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return target if done.returncode == 0 else None


class Court:
    """Judges mutants."""

    def __init__(self, tools):
        self.tools = tools
        if not shutil.which("bwrap"):
            stop("bwrap is missing; run as root: apt-get install --no-install-recommends bubblewrap")
        self.object = tools.path("changed.o")
        self.outputs = tools.path("test")  # lit writes its outputs beside its configuration
        os.mkdir(self.outputs)
        shutil.copy(os.path.join(tools.directory, "test/lit.site.cfg.py"), self.outputs)
        first = tools.sources[0]
        failed = self.killer_of(first, tools.objects[first])
        if failed:
            stop(f"without a change this fails: {failed}")

    def compiles(self, source, text):
        changed = self.tools.path("changed.cpp")
        with open(changed, "w") as file:
            file.write(text)
        return self.tools.compile(source, changed, self.object)

    def killer(self, source, _text, _line):
        return self.killer_of(source, self.object)

    def killer_of(self, source, changed):
        steps = [("tessera-opt", [*LIT, "build/test/Memory", "build/test/Pipelines"]),
                 ("tessera-kernel-op-tests", ["build/bin/tessera-kernel-op-tests", "--gtest_filter=ArenaLayout*"]),
                 *(("tessera", ["build/bin/tessera", "verify", *options.split()]) for options in VERIFIED),
                 ("tessera", [*LIT, "build/test/Tools", "--filter", REPORTED])]
        linked = {}
        for program, command in steps:
            if program not in linked:
                linked[program] = self.tools.link(program, source, changed)
            if not linked[program]:
                return "linker"
            code = self.run(command, {program: linked[program]})
            if code != 0:
                return "time" if code is None else " ".join(command)
        return ""

    def run(self, command, replaced):
        """Returns the exit code of a test with programs replaced; None if the time was over."""
        build = self.tools.directory
        words = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev",
                 "--proc", "/proc", "--size", str(1 << 30), "--tmpfs", "/tmp", "--ro-bind", ROOT, ROOT,
                 "--chdir", ROOT]
        words += ["--bind", self.outputs, os.path.join(build, "test")]
        for program, path in replaced.items():
            words += ["--ro-bind", path, os.path.join(build, "bin", program)]
        process = subprocess.Popen([*words, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def main():
    options = mutation.options_of(__doc__.split("\n")[0], "build")
    tools = Tools(os.path.abspath(options.directory))
    sources = mutation.chosen(options.files, tools.sources, tools.sources)
    return mutation.judge_all(Court(tools), sources, options)


if __name__ == "__main__":
    sys.exit(main())
