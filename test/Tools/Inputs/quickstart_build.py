"""Checks that quickstart.sh builds what an installation, a package and bench/run.sh take: quickstart_build.py SOURCE BUILD

Configures BUILD as quickstart.sh does and asks ninja, without building anything."""

import pathlib
import re
import subprocess
import sys

source, build = (pathlib.Path(path).resolve() for path in sys.argv[1:])


def ninja(*words):
    return subprocess.run(["ninja", "-C", build, *words], check=True, capture_output=True, text=True).stdout.splitlines()


def text_of(path):
    return (source / path).read_text()


command = re.search(r"^bash tools/scripts/build.sh (.*)$", text_of("tools/scripts/quickstart.sh"), re.M)[1]
words = command.replace("$cuda", "OFF").split()
assert words[:2] == ["--progress", "release"], f"quickstart.sh builds only some targets: {command}"
subprocess.run(["cmake", "--preset", words[1], "-B", build, *words[2:]], cwd=source, check=True, stdout=subprocess.DEVNULL)

built = {word for line in ninja("-n", "all") for word in line.split()}
installed = set()
for script in build.rglob("cmake_install.cmake"):
    installed |= set(re.findall(rf'"{re.escape(str(build))}/([^"]+)"', script.read_text()))
# Other words are folders, paths of libraries, and variables of the scripts.
files = [path for path in installed if re.match(r"(bin|lib)/[^/:]+(?<!\.cmake)$", path)]
missing = [path for path in files if path not in built]
print("not built:", *sorted(missing) or ["nothing"])
for program in ("tessera", "tessera-opt", "tessera-lsp-server"):
    print(program, f"bin/{program}" in built and f"bin/{program}" in installed)

measured = re.search(r"--target (.*) >&2", text_of("bench/run.sh"))[1].split()
print("measured:", *measured, len(ninja("-n", *measured)) > 1)
benchmarks = [name for path in sorted((source / "bench").glob("*/CMakeLists.txt"))
              for name in re.findall(r"^add_executable\((\S+)", path.read_text(), re.M)]
print("benchmarks:", *benchmarks, len(ninja("-n", *benchmarks)) > 1, not any(f"bin/{name}" in built for name in benchmarks))
