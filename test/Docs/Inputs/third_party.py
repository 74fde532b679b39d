"""Compares THIRD_PARTY.md with what the built programs and libraries need and load."""
import glob
import re
import subprocess
import sys

from documents import read

source, build = sys.argv[1:]
page = read(source, "THIRD_PARTY.md")
linked, loaded = page.split("## Loaded")[0], page.split("## Loaded")[1].split("\n## ")[0]


def listed(text):
    return set(re.findall(r"`((?:lib|ld-)[\w+.-]*\.so[\w.]*)`", text))


needed = set()
plugin = glob.glob(f"{build}/lib/libtessera_cuda.so")
for path in [f"{build}/bin/tessera", f"{build}/lib/libtessera_runtime.so",
             f"{build}/lib/libtessera_tokenizer.so", *plugin]:
    dump = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    needed |= set(re.findall(r"NEEDED\s+(\S+)", dump))
needed = {name for name in needed if not name.startswith("libtessera")}
opened = set()
for path in glob.glob(f"{source}/runtime/**/*.cpp", recursive=True):
    opened |= set(re.findall(r'dlopen\(\s*"([^"]+)"', open(path).read()))

# Names have no version or processor, and not everything is in every build.
names = {name: re.split(r"[.-]\d|\.so|-linux", name)[0] for name in needed | opened | listed(page)}
offences = [f"THIRD_PARTY.md does not list {name} as linked" for name in sorted(needed)
            if names[name] not in {names[other] for other in listed(linked)}]
offences += [f"THIRD_PARTY.md and the sources differ in what is loaded: {name}"
             for name in sorted(opened ^ listed(loaded))]
print("\n".join(offences), end="\n" if offences else "")
sys.exit(bool(offences))
