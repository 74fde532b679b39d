"""Checks of sources that need their text: lengths, where includes point, banners, header guards, names of headers.

Called by lint.sh with the sources as arguments; prints one line per offence.
"""
import os
import re
import sys

# Rooms of the compiler, in the order in which a program passes through. A room may include those before it.
COMPILER = ["Json", "Options", "Text", "Program", "Dialect", "Schedule", "Import", "Model", "Inference", "Distribute", "Train", "Partition", "Lower", "Communicate", "Memory",
            "Codegen", "Target", "Pipelines", "Artifact", "Simulate", "Plan", "Report", "Predict", "Planner", "Verify", "Calibrate", "Page", "Compiler", "tools"]
# These may include only what is named here.
NARROW = {"Json": [], "Options": [], "Text": [], "Program": ["Json", "Options"], "Dialect": ["Json", "Options", "Program"], "Schedule": ["Options"],
          "Import": ["Json", "Options", "Program", "Dialect"], "Simulate": ["Json", "Options", "Program"],
          "Plan": ["Json", "Options", "Schedule"], "Report": ["Json", "Options", "Text", "Program", "Schedule"], "Target": ["Json", "Options", "Program", "Dialect"]}
# These run programs, so they know the runtime's API.
RUNNERS = {"Artifact", "Verify", "Calibrate", "Compiler", "tools"}
# Rooms of the runtime, likewise. `cpu` and `cuda` hold devices' entries.
RUNTIME = ["support", "artifact", "collectives", "cpu", "device", "calls", "data", "session", "checkpoint", "generate", "encode", "api"]
# Those of libraries of their own, with what each may include.
ASIDE = {"tokenizer": ["support", "tokenizer"], "http": ["http"], "cuda": RUNTIME[:RUNTIME.index("calls") + 1] + ["cuda"]}
PUBLIC = {"compiler.h", "compiler.hpp", "tessera.h", "tessera.hpp", "tokenizer.h", "tokenizer.hpp", "encoder.h", "encoder.hpp", "completions.hpp", "http.hpp", "json_reader.hpp",
          "mpi_plugin.h", "json_limits.hpp", "json_kinds.def", "printable.hpp", "program_fields.def", "program_fields.hpp", "abi.h", "abi_arguments.h", "abi_attention.def", "abi_cached_attention.def", "abi_cpu.def", "abi_entries.def"}
ABI = {"abi.h", "abi_arguments.h", "abi_attention.def", "abi_cached_attention.def", "abi_cpu.def", "abi_entries.def"}
JSON = {"json_reader.hpp", "json_limits.hpp", "json_kinds.def"}
FIELDS = {"program_fields.def", "program_fields.hpp"}
ROOTS = ("", "include/", "runtime/include/")
# Only the length of these is checked.
SCRIPTS = (".py", ".sh", ".js", ".css")


def room(path):
    """The room of a file of the repository, or of an include that is written as its path."""
    path = re.sub(r"^include/", "", path)
    if path.startswith("tessera/"):
        name = path[len("tessera/"):]
        return ("public", name) if name in PUBLIC else ("compiler", name.split("/")[0])
    parts = path.split("/")
    if parts[0] == "lib":
        return "compiler", parts[1]
    if parts[0] == "tools":
        return "compiler", "tools"
    if parts[0] == "runtime":
        return ("public", parts[-1]) if parts[1] == "include" else ("runtime", parts[1])
    return parts[0], ""


def allowed(source, target):
    """Returns whether a file of room `source` may include one of room `target`; else what it may include."""
    kind, name = source
    if kind == "compiler":
        rooms = NARROW.get(name, COMPILER[:COMPILER.index(name)]) + [name]
        public = PUBLIC if name in RUNNERS else {"printable.hpp"} if name in ("Text", "Report") else ABI if name == "Codegen" else ABI | FIELDS if name == "Target" else FIELDS if name == "Program" else JSON if name == "Json" else set()
        return target[0] == "compiler" and target[1] in rooms or target[0] == "public" and target[1] in public, rooms
    if kind == "runtime":
        rooms = ASIDE[name] if name in ASIDE else RUNTIME[:RUNTIME.index(name) + 1]
        return target[0] == "runtime" and target[1] in rooms or target[0] == "public", rooms
    return True, []


def includes(path, text):
    for match in re.finditer(r'^\s*#?\s*include "([^"]+)"', text, re.M):
        target = match.group(1)
        if target.startswith(("mlir/", "llvm/", "lld/")) or target.endswith(".inc"):
            continue
        if "/" not in target or not any(os.path.exists(root + target) for root in ROOTS):
            yield f"includes: {path} includes \"{target}\"; write its path from the repository's root, or tessera/..."
            continue
        good, rooms = allowed(room(path), room(target))
        if not good:
            yield f"includes: {path} includes {target}; its room may include: {' '.join(rooms)}"


def banner(path, text):
    first, second = (text + "\n\n").split("\n", 2)[:2]
    if not first.startswith("//==="):
        return
    expected = rf"//===-+ {re.escape(os.path.basename(path))} - \S.*-+(\*- (C\+\+|tablegen) -\*-)?===//"
    if len(first) != 80 or not re.fullmatch(expected, first):
        yield f"banner: {path} begins with '{first}'; it should be '//===- NAME - what it is ---===//' in 80 columns"
    if second.endswith("===//") and not second.startswith("//==="):
        yield f"banner: {path} has a rest of its banner, '{second}', in line 2; delete it"


def guard(path, text):
    if not path.endswith(".h") or path.startswith(("runtime/include/", "cmake/", "include/tessera/compiler.h")):
        return
    name = re.sub(r"^include/", "", path)
    name = name if name.startswith("tessera/") else "tessera/" + name
    expected = re.sub(r"\W", "_", name).upper()
    if "#ifndef " in text and f"#ifndef {expected}\n#define {expected}\n" not in text:
        yield f"guard: {path} has another guard than {expected}"


# Each row has a pattern of calls that read, what they read, the places that may call them, and the remedy.
READERS = [
    # The limits of json_reader.hpp hold only for what passes it; LLVM's parser is wrong about escapes, and recursive.
    (r"\b(json|Json)\s*::\s*(parse|sax_parse|accept|from_\w+)\b|\bsax_parse\b|>>\s*\w*(json|Json)\b|\bjson_parse\w*", "JSON",
     {"runtime/include/tessera/json_reader.hpp"}, "call readJson of tessera/json_reader.hpp, or parseJson"),
    (r"\btoml\s*::\s*parse(_file)?\b|\btoml\+\+/|\boperator\s*\"\"\s*_toml\b|_toml\b(?=\s*;)", "TOML",
     {"lib/Json/ParseToml.cpp", "include/tessera/Json/ParseToml.h"}, "call readToml of tessera/Json/ParseToml.h"),
    (r"\b(nlohmann/json|nlohmann::)", "JSON",
     {"runtime/", "examples/", "test/"}, "call parseJson of tessera/Json/ParseJson.h"),
    (r"\bMemoryBuffer\s*::\s*(getFile\w*|getSTDIN|getOpenFile\w*)", "a file",
     {"lib/Target/Process.cpp", "tools/tessera/commands/Doctor.cpp", "tools/tessera-opt/"}, "call readText of tessera/Json/ReadText.h, which has a limit"),
]


def readers(path, text):
    """Text from outside goes through one place, which has limits."""
    if not path.startswith(("lib/", "include/", "tools/", "runtime/", "examples/")):
        return
    # Names of a file may be listed in a using-declaration or an alias; comments are no calls.
    code = re.sub(r"//[^\n]*", "", text)
    aliases = set(re.findall(r"using\s+(\w+)\s*=\s*(?:nlohmann::json|llvm::json::\w+)\s*;", code)) - {"Json", "json"}
    for pattern, what, places, remedy in READERS:
        if path.startswith(tuple(places)):
            continue
        if what == "JSON" and "parse" in pattern and aliases:
            pattern += "|\\b(" + "|".join(sorted(aliases)) + r")\s*::\s*(parse|accept)\b"
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            yield f"reader: {path}:{line} reads {what} by '{match.group()}'; {remedy}"


# A source holds one class, table or pass. Public headers are one API each, with its documentation.
LONGEST = 600


def length(path, text):
    lines = text.count("\n")
    if lines > LONGEST and not path.startswith("runtime/include/"):
        yield f"length: {path} has {lines} lines, of at most {LONGEST}; find its second responsibility, and give it a file"


def printing(path, text):
    """Texts of files are escaped where the driver prints them: in one place, and where CLI11 prints."""
    seams = ("tools/tessera/output/Output.cpp", "tools/tessera/options/CommandLine.cpp")
    if path.startswith(("tools/tessera/", "lib/")) and path not in seams:
        for match in re.finditer(r"\b(?:outs|errs)\(\)|\bstd::(?:cout|cerr)\b|\b(?:f?printf|puts|putchar)\(|\bf(?:puts|write)\([^;]*\bstd(?:out|err)\b", text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"printing: {path}:{line} has '{match.group()}'; print through tools/tessera/output/Output.h; lib/ returns what is to be said"


def main(paths):
    headers = {}
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(SCRIPTS):
            yield from length(path, text)
            continue
        for check in (length, includes, banner, guard, readers, printing):
            yield from check(path, text)
        if path.endswith(".h") and os.path.basename(path) != "Passes.h":
            headers.setdefault(os.path.basename(path), []).append(path)
    for name, places in headers.items():
        if len(places) > 1:
            yield f"name: {name} is a header in several places: {' '.join(places)}"


if __name__ == "__main__":
    for offence in main(sys.argv[1:]):
        print(offence)
