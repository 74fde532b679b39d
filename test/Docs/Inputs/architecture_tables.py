"""Compares the tables of docs/Architecture.md with the pipeline and with what lint enforces."""
import glob
import os
import re
import sys

from documents import read, section, table

source = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(source, "tools/scripts"))
import lint_sources  # noqa: E402

architecture = read(source, "docs/Architecture.md")
offences = 0


def compare(what, documented, actual):
    global offences
    if documented != actual:
        offences += 1
        print(f"docs/Architecture.md: {what}\n  document: {documented}\n  actual:   {actual}")


# Passes: the functions of Pipeline.cpp that add them, in the order of buildCompilePipeline.
UPSTREAM = {"CSE": "cse", "ArithToLLVMConversion": "convert-arith-to-llvm"}


def flags():
    found = dict(UPSTREAM)
    for path in glob.glob("include/tessera/**/Passes.td", root_dir=source, recursive=True):
        for name, flag in re.findall(r'def (\w+)Pass\s*:\s*Pass<"([^"]+)"', read(source, path)):
            found[name] = flag
    return found


def passes_of(body, functions, names):
    """Names of the passes that a function adds, and those of the functions that it calls."""
    for match in re.finditer(r"\bcreate(\w+)Pass\(|\bbuild(\w+)Pipeline\(passes", body):
        if match.group(1):
            yield names[match.group(1)]
        else:
            yield from passes_of(functions[match.group(2)], functions, names)


pipeline = read(source, "lib/Pipelines/Pipeline.cpp")
functions = dict(re.findall(r"^(?:static void |\w+ tessera::)build(\w+)Pipeline\((.*?)^}", pipeline, re.M | re.S))
stages = dict(re.findall(r"^static void add(\w+)Passes\((.*?)^}", pipeline, re.M | re.S))
names = flags()
actual = []
for stage in re.findall(r"add(\w+)Passes\b", functions["Compile"]):
    actual.append(f"**tessera-{stage.lower()}**")
    actual += passes_of(stages[stage], functions, names)
documented = [name for row in table(section(architecture, "Passes, in order"))
              for name in (["**" + row[0].strip("*`") + "**"] if row[0].startswith("**")
                           else re.findall(r"`([\w-]+)`", row[0]))]
# Two conversions exclude each other: the table has the CPU's first.
kernels = ["convert-kernel-to-nvvm", "convert-kernel-to-llvm"]
compare("the order of passes", documented,
        [kernels[1 - kernels.index(name)] if name in kernels else name for name in actual])

# Rooms: what the table says that each may include, against lint's answer for every pair.
def includable(kind, name):
    """Returns what lint lets a room include, besides itself."""
    rooms = [room for group, all_rooms in (("compiler", lint_sources.COMPILER),
                                          ("runtime", lint_sources.RUNTIME + list(lint_sources.ASIDE)))
             for room in all_rooms
             if (group, room) != (kind, name) and
             lint_sources.allowed((kind, name), (group, room))[0]]
    public = {header for header in lint_sources.PUBLIC
              if lint_sources.allowed((kind, name), ("public", header))[0]}
    groups = {"the ABI headers": lint_sources.ABI, "the headers of JSON": lint_sources.JSON,
              "the fields of metadata": lint_sources.FIELDS, "printable.hpp": {"printable.hpp"}}
    extra = ["the public headers"] if public == lint_sources.PUBLIC else \
        [words for words, headers in groups.items() if headers <= public]
    return rooms + extra


def documented_rooms(cell, above):
    words = []
    for part in (part.strip() for part in cell.replace("`", "").split(",")):
        words += above if part == "every room above" else [] if part == "nothing" else [part]
    return words


def check_rooms(heading, kind, prefix, order):
    above = []
    for row in table(section(architecture, heading)):
        name = row[0].strip("`")
        name = name[len(prefix):] if name.startswith(prefix) else name
        compare(f"what {prefix}{name} may include", documented_rooms(row[2], list(above)),
                includable(kind, name))
        above.append(name)
    compare(f"the rooms of '{heading}'", above, order)


check_rooms("Rooms of the compiler", "compiler", "lib/", lint_sources.COMPILER)
check_rooms("Rooms of the runtime", "runtime", "runtime/", lint_sources.RUNTIME + list(lint_sources.ASIDE))

# Every room is a folder, and every folder a room.
def folders(parent):
    return {name for name in os.listdir(os.path.join(source, parent))
            if any(files for _, _, files in os.walk(os.path.join(source, parent, name)))}


rooms = folders("lib") | {name for name in folders("include/tessera") if name[0].isupper()}
compare("the folders of lib and include", sorted(rooms), sorted(set(lint_sources.COMPILER) - {"tools"}))
compare("the folders of runtime", sorted(folders("runtime") - {"include"}), sorted(lint_sources.RUNTIME + list(lint_sources.ASIDE)))
sys.exit(offences > 0)
