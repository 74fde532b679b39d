"""Runs a compiler whose output lies in DIR, beside what compilers left that were killed, and what others still hold."""
import fcntl
import os
import subprocess
import sys

directory, command = sys.argv[1], sys.argv[2:]
scratch = os.path.join(directory, "tmp")
files = [os.path.join(directory, f"model.tsr.{name}.tmp") for name in ("0123abcd", "4567abcd", "notes")]
folders = [os.path.join(scratch, name) for name in (".tessera-scratch-left00", ".tessera-scratch-held00", "mine")]
for path in folders:
    os.makedirs(path)
for path in files + [os.path.join(folder, "a.o") for folder in folders]:
    with open(path, "w") as file:
        file.write("half")
held = [os.open(path, os.O_RDONLY) for path in (files[1], folders[1])]
for descriptor in held:
    fcntl.flock(descriptor, fcntl.LOCK_EX)
subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": scratch})
assert sorted(os.listdir(directory)) == ["model.tsr", "model.tsr.4567abcd.tmp", "model.tsr.notes.tmp", "tmp"]
assert sorted(os.listdir(scratch)) == [".tessera-scratch-held00", "mine"]
