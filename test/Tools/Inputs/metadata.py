"""Prints the metadata of artifacts as their bytes are, a call, a tensor or a task to a line, without the target.

Usage: metadata.py FILE.tsr, or metadata.py --hash FILE.tsr .. for the SHA-256 of each.
"""
import hashlib
import pathlib
import re
import struct
import sys


def metadata(path):
    data = pathlib.Path(path).read_bytes()
    header, size = struct.unpack_from("<IQ", data, 12)
    text = data[header:header + size].decode()
    # The target names the processor of the machine that compiled.
    text, count = re.subn(r'"target":\{[^{}]*\}', '"target":{}', text)
    assert count == 1, count
    return text.replace("},{", "},\n{") + "\n"


if sys.argv[1] == "--hash":
    for path in sys.argv[2:]:
        print(pathlib.Path(path).stem, hashlib.sha256(metadata(path).encode()).hexdigest())
else:
    sys.stdout.write(metadata(sys.argv[1]))
