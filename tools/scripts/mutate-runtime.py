#!/usr/bin/env python3
"""Mutation testing of the runtime: changes one place of a source at a time, and expects that a test fails.

Usage: mutate-runtime.py [--count N] [--seed S] [--directory BUILD] [FILE[:LINE[-LINE]]...]

Mutants are drawn evenly from the files (collectives, checkpoints, files and locks, arenas and shardings if none is
named) and are the same for the same seed. A mutant is compiled alone, at -O0, and linked into the test programs that
reach its function; of these, only tests that reach it are run. What does not compile is replaced by the next one. A
test that takes too long counts as failed. Prints each mutant that no test notices, and the totals; exit code 1 if there
is one, 2 if the tests fail without a change. The first run builds the tests and finds out which test reaches what.

Everything happens in copies, below BUILD (build-mutants). The tests run without network and without write access to the
machine (bubblewrap): a changed program may try to remove anything.
"""
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import mutation
from mutation import ROOT, run, stop

DEFAULT = ("runtime/collectives/", "runtime/checkpoint/", "runtime/support/File.cpp",
           "runtime/support/OwnedDirectory.cpp", "runtime/support/LockOwner.cpp", "runtime/device/Arena.cpp",
           "runtime/artifact/Sharding.cpp", "runtime/session/GatheredPart.cpp", "runtime/session/TensorAccess.cpp")
# Test programs, and the module of each that holds the runtime's code.
LIBRARY = "lib/libtessera_runtime.so"
PROGRAMS = {"RuntimeInternalTests": "bin/RuntimeInternalTests", "FuzzReplayTests": "bin/FuzzReplayTests",
            "RuntimeDeviceTests": "bin/RuntimeDeviceTests", "RuntimeTests": LIBRARY, "FaultTests": LIBRARY}
QUICK = 0.15  # seconds; tests above are run after the others
MEMORY = 4 << 30  # bytes that a test may allocate

# Marks each basic block that is reached in a file that all processes of a test share.
RECORDER = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define SIZE (1 << 25)
extern char __ehdr_start __attribute__((visibility("hidden")));
static volatile unsigned char *reached;
__attribute__((constructor)) static void start(void) {
  const char *path = getenv("REACHED_BLOCKS");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
  if (file < 0 || ftruncate(file, SIZE) != 0)
    return;
  void *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  reached = memory == MAP_FAILED ? 0 : memory;
  close(file);
}
__attribute__((visibility("hidden"))) void __sanitizer_cov_trace_pc(void) {
  uintptr_t at = (char *)__builtin_return_address(0) - &__ehdr_start;
  if (reached && at < SIZE)
    reached[at] = 1;
}
"""


class Build:
    """Compiles and links variants of the tests' modules."""

    def __init__(self, directory):
        self.directory = directory
        self.scratch = os.path.join(directory, "mutation")
        os.makedirs(self.scratch, exist_ok=True)
        if not os.path.exists(os.path.join(directory, "build.ninja")):
            run(["cmake", "--preset", "runtime", "-B", directory, "-DTESSERA_BUILD_TESTS=ON", "-DTESSERA_CUDA=OFF",
                 "-DTESSERA_UNITY_BUILD=OFF"], cwd=ROOT)
        run(["ninja", "-C", directory, *PROGRAMS])
        with open(os.path.join(directory, "compile_commands.json")) as file:
            entries = json.load(file)
        self.compiles = {os.path.relpath(entry["file"], ROOT): shlex.split(entry["command"]) for entry in entries}
        self.links = {module: self.link_command(module) for module in set(PROGRAMS.values())}

    def path(self, module):
        """Returns the path of a module, through links."""
        return os.path.realpath(os.path.join(self.directory, module))

    def link_command(self, module):
        name = os.path.relpath(self.path(module), self.directory)
        commands = run(["ninja", "-C", self.directory, "-t", "commands", "-s", name])
        return shlex.split(next(part for part in commands.split(" && ") if f" -o {name}" in part))

    def object_of(self, source):
        command = self.compiles[source]
        return command[command.index("-o") + 1]

    def compile(self, source, text_file, target, *options):
        """Compiles `text_file` as if it stood where `source` is; false if it does not compile."""
        command = list(self.compiles[source])
        command[command.index("-o") + 1] = target
        command[command.index("-c") + 1] = text_file
        command = [word for word in command if word not in ("-O3", "-Wall", "-Wextra")]
        return subprocess.run([*command, "-O0", "-w", *options], cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=300).returncode == 0

    def link(self, module, replaced, target, *extra):
        """Links a module with other objects than its own; false if that fails."""
        command = [replaced.get(word, word) for word in self.links[module]]
        command[command.index("-o") + 1] = target
        return subprocess.run([*command, *extra], cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def prefix_of(self, source):
        """Returns a precompiled header of what a source includes: reading headers is most of compiling it."""
        header = os.path.join(self.scratch, re.sub(r"\W", "_", source) + ".h")
        with open(os.path.join(ROOT, source)) as file:
            includes = re.findall(r"^#include .*", file.read(), re.MULTILINE)
        includes = [line for line in includes if "mmintrin" not in line]
        with open(header, "w") as file:
            file.write("\n".join(includes) + "\n")
        if not self.compile(source, header, header + ".gch", "-x", "c++-header"):
            stop(f"cannot compile the headers of {source}")
        return header


class Sandbox:
    """Runs tests of a program with one of its modules replaced."""

    def __init__(self, build):
        self.build = build
        if not shutil.which("bwrap"):
            stop("bwrap is missing; run as root: apt-get install --no-install-recommends bubblewrap")

    def command(self, program, arguments, module, environment):
        command = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/",
                   "--dev", "/dev", "--proc", "/proc", "--size", str(1 << 30), "--tmpfs", "/tmp",
                   "--ro-bind", ROOT, ROOT, "--ro-bind", self.build.directory, self.build.directory,
                   "--bind", self.build.scratch, self.build.scratch, "--chdir", "/tmp"]
        if module:
            command += ["--ro-bind", module, self.build.path(PROGRAMS[program])]
        for name, value in environment.items():
            command += ["--setenv", name, value]
        return [*command, os.path.join(self.build.directory, "bin", program), *arguments]

    def run(self, program, arguments, module=None, limit=60.0, environment={}):
        """Returns the exit code and output; None if the time was over."""
        def limits():
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        process = subprocess.Popen(self.command(program, arguments, module, environment), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=limits,
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""

    def tests_of(self, program):
        _, output = self.run(program, ["--gtest_list_tests"])
        suite, names = "", []
        for line in output.splitlines():
            word = line.split("#")[0].strip()
            if line.startswith("  "):
                names.append(suite + word)
            elif word.endswith("."):
                suite = word
        return names


class Reach:
    """Knows which test reaches which lines, and how long it takes.

    `programs` is {program: {test: {"time": seconds, "lines": {source: [line, ..]}}}}.
    """

    def __init__(self, build, sandbox, sources):
        self.build, self.sandbox, self.sources = build, sandbox, sources
        self.file = os.path.join(build.scratch, "reach.json")
        newest = max(os.path.getmtime(build.path(path)) for module in PROGRAMS.values()
                     for path in (module, *(f"bin/{program}" for program in PROGRAMS)))
        if os.path.exists(self.file) and os.path.getmtime(self.file) > newest:
            with open(self.file) as file:
                known = json.load(file)
            if set(known["sources"]) >= set(sources):
                self.programs = known["programs"]
                return
        self.programs = self.measure()
        with open(self.file, "w") as file:
            json.dump({"sources": sources, "programs": self.programs}, file)

    def measure(self):
        print("mutate-runtime: finding out which test reaches what", flush=True)
        recorder = os.path.join(self.build.scratch, "recorder")
        with open(recorder + ".c", "w") as file:
            file.write(RECORDER)
        run(["gcc", "-O2", "-fPIC", "-c", recorder + ".c", "-o", recorder + ".o"])
        replaced = {}
        for source in self.sources:
            target = os.path.join(self.build.scratch, re.sub(r"\W", "_", source) + ".reach.o")
            origin = os.path.join(ROOT, source)
            is_new = not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(origin)
            if is_new and not self.build.compile(source, origin, target, "-g1", "-fsanitize-coverage=trace-pc"):
                stop(f"cannot compile {source}")
            replaced[self.build.object_of(source)] = target
        programs = {}
        for program, module in PROGRAMS.items():
            traced = os.path.join(self.build.scratch, "traced-" + os.path.basename(module))
            if not self.build.link(module, replaced, traced, recorder + ".o"):
                stop(f"cannot link {traced}")
            programs[program] = self.measure_program(program, traced)
        return programs

    def measure_program(self, program, traced):
        blocks, times = {}, {}
        for test in self.sandbox.tests_of(program):
            record = os.path.join(self.build.scratch, "reached")
            if os.path.exists(record):
                os.remove(record)
            begin = time.monotonic()
            code, output = self.sandbox.run(program, [f"--gtest_filter={test}"], traced, 120,
                                            {"REACHED_BLOCKS": record})
            times[test] = time.monotonic() - begin
            if code != 0:
                stop(f"{program} --gtest_filter={test} fails without a change:\n{output[-2000:]}")
            blocks[test] = []
            if os.path.exists(record):
                with open(record, "rb") as file:
                    blocks[test] = [match.start() for match in re.finditer(b"\1", file.read())]
        places = self.places_of(traced, sorted(set().union(*blocks.values())))
        return {test: {"time": times[test], "lines": self.by_source(place for at in blocks[test]
                                                                    for place in places[at])} for test in blocks}

    def places_of(self, traced, addresses):
        """Address after a call -> ["source:line"], that of the function and those it is inlined in."""
        text = "\n".join(hex(address - 1) for address in addresses)
        places, found = {}, []
        for line in run(["addr2line", "-a", "-i", "-e", traced], input=text).splitlines():
            if line.startswith("0x"):
                found = places.setdefault(int(line, 16) + 1, [])
            else:
                found.append(line)
        return places

    def by_source(self, places):
        lines = {}
        for place in places:
            path, _, line = place.split(" ")[0].rpartition(":")
            source = os.path.relpath(path, ROOT)
            if source in self.sources and line.isdigit():
                lines.setdefault(source, set()).add(int(line))
        return {source: sorted(numbers) for source, numbers in lines.items()}

    def tests(self, program, source, begin, end):
        """Returns the tests that reach one of the lines [begin, end], and their times."""
        return {test: record["time"] for test, record in self.programs[program].items()
                if any(begin <= line <= end for line in record["lines"].get(source, []))}


def function_around(text, line):
    """Returns the first and last line of what stands at file level around a line: the formatter closes it at the
    margin."""
    lines = text.split("\n")
    ends = [number for number, content in enumerate(lines, 1) if content.startswith("}") or content.endswith(" }")
            and content[:1] not in (" ", "")]
    begin = max((end for end in ends if end < line), default=0) + 1
    return begin, min((end for end in ends if end >= line), default=len(lines))


class Court:
    """Judges mutants."""

    def __init__(self, build, sandbox, reach):
        self.build, self.sandbox, self.reach = build, sandbox, reach
        self.headers = {}

    def compiles(self, source, text):
        if source not in self.headers:
            self.headers[source] = self.build.prefix_of(source)
        changed = os.path.join(self.build.scratch, "changed.cpp")
        with open(changed, "w") as file:
            file.write(text)
        self.object = os.path.join(self.build.scratch, "changed.o")
        return self.build.compile(source, changed, self.object, "-include", self.headers[source])

    def killer(self, source, text, line):
        """Returns what notices the change: a program, "time" or "linker"; "" if nothing does, None if no test reaches
        it."""
        begin, end = function_around(text, line)
        linked = {}
        batches = []
        for program in PROGRAMS:
            tests = self.reach.tests(program, source, begin, end)
            quick = {test: taken for test, taken in tests.items() if taken < QUICK}
            slow = {test: taken for test, taken in tests.items() if taken >= QUICK}
            batches += [(sum(batch.values()), program, batch) for batch in (quick, slow) if batch]
        for total, program, batch in sorted(batches, key=lambda item: item[0]):
            module = PROGRAMS[program]
            if module not in linked:
                linked[module] = os.path.join(self.build.scratch, "changed-" + os.path.basename(module))
                if not self.build.link(module, {self.build.object_of(source): self.object}, linked[module]):
                    return "linker"
            code, _ = self.sandbox.run(program, ["--gtest_fail_fast", "--gtest_filter=" + ":".join(batch)],
                                       linked[module], 10 + 4 * total)
            if code != 0:
                return "time" if code is None else program
        return "" if batches else None


def main():
    options = mutation.options_of(__doc__.split("\n")[0], "build-mutants")
    build = Build(os.path.abspath(options.directory))
    sandbox = Sandbox(build)
    default = sorted(source for source in build.compiles if source.startswith(DEFAULT))
    sources = mutation.chosen(options.files, build.compiles, default)
    reach = Reach(build, sandbox, sorted({*default, *sources}))
    return mutation.judge_all(Court(build, sandbox, reach), sources, options)


if __name__ == "__main__":
    sys.exit(main())
