"""Compares counts and lists that documents state with the sources."""
import glob
import re
import sys

from documents import documents, read, section, table

source = sys.argv[1]
offences = 0


def compare(document, what, documented, actual):
    global offences
    if documented != actual:
        offences += 1
        print(f"{document}: {what}\n  document: {documented}\n  actual:   {actual}")


def sources(folder, *extensions):
    paths = glob.glob(folder + "/**/*", root_dir=source, recursive=True)
    return {path: read(source, path) for path in paths if path.endswith(extensions)}


# The size of the typing rule.
rule = read(source, "docs/TheOneRule.md")
folder, limit = re.search(r"in `(lib/\S+)`,\s+fewer\s+than\s+(\d+)\s+lines", rule).groups()
files = re.findall(r"`(\w+\.cpp)`", re.search(r"The code is(.*?)in `lib/", rule, re.S).group(1))
lines = sum(read(source, f"{folder}/{file}").count("\n") for file in files)
compare("docs/TheOneRule.md", f"lines of {', '.join(files)}", f"fewer than {limit}",
        f"fewer than {limit}" if lines < int(limit) else lines)

# The sentence of a failed erasure.
sentence = re.search(r"^FAILED: erasure: '[\w.]+' of \S+(.*)", rule, re.M).group(1)
compare("docs/TheOneRule.md", "what erasure says", sentence,
        sentence if f'"{sentence}"' in read(source, "lib/Distribute/Erasure.cpp") else "not in Erasure.cpp")

# The runtime knows the keys of "model" in the metadata that it parses.
runtime = read(source, "docs/Runtime.md")
artifact = read(source, "docs/Artifact.md")
parser = "\n".join(sources("runtime/artifact", ".cpp").values())
keys = set(re.findall(r'"(\w+)":', re.search(r'"model": \{(.*?)\}', artifact).group(1)))
keys |= set(re.findall(r"`model\.(\w+)`", artifact))
fields = re.findall(r'TSR_PROGRAM_FIELD\(Model, (\w+), "(\w+)"', read(source, "runtime/include/tessera/program_fields.def"))
compare("docs/Runtime.md", "keys of a model that the runtime reads",
        sorted(re.findall(r"`(\w+)`", re.search(r"preparing\s+a\s+batch\s+needs:(.*?)\.", runtime, re.S).group(1))),
        sorted(key for field, key in fields if key in keys and re.search(rf"\bModel::{field}\b", parser)))

# Communicators: each name is one that the runtime knows.
code = sources("runtime", ".h", ".cpp")
for name, *_ in table(section(runtime, "Communicators")):
    if not any(f'"{name.strip("`")}"' in text for text in code.values()):
        compare("docs/Runtime.md", "a communicator", name, "not in runtime/")

# Limits of JSON, by kind of text: name, bytes, depth, values, bytes of a string.
def number(text):
    count, _, shift = text.replace("'", "").replace("MiB", "<< 20").partition("<<")
    return int(count) << int(shift or 0)


kinds = re.findall(r"^TSR_JSON_KIND\((\w+), ([^,]+), ([^,]+), ([^,]+), ([^,]+), \"", read(source, "runtime/include/tessera/json_kinds.def"), re.M)
documented = table(section(read(source, "docs/Limits.md"), "JSON"))
compare("docs/Limits.md", "limits of the kinds of JSON", [(name.strip("`"), *map(number, limits)) for name, _, *limits in documented],
        [(name, *map(number, limits)) for name, *limits in kinds])

# Entries of the CPU.
entries = re.findall(r"^\w+ cpu(\w+)\(", read(source, "runtime/cpu/CpuEntries.h"), re.M)
entries = [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in entries]
text = re.search(r"CPU device:(.*?)\.\n", read(source, "docs/CpuKernels.md"), re.S).group(1)
compare("docs/CpuKernels.md", "compute entries", sorted(re.findall(r"`(\w+)`", text)), sorted(entries))
sys.exit(offences > 0)
