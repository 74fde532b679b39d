"""Writes the same tokens in every format into a directory; --same-loss and
--near-loss compare the logs of runs."""

import bz2
import gzip
import json
import lzma
import os
import struct
import sys
import tarfile
import zipfile
from array import array

TEXT = b"a tessera is one tile of a mosaic. " * 51 + b"a tessera shine"


def losses_of(log):
    """Returns the losses of the steps; evaluations have lines of their own."""
    return [line["loss"] for line in map(json.loads, open(log)) if "loss" in line]


def same_loss(logs):
    losses = [losses_of(log) for log in logs]
    assert losses[0], logs[0]
    for log, loss in zip(logs, losses):
        assert loss == losses[0], (log, loss, losses[0])


def near_loss(serial, parallel):
    """Compares up to the order of sums in f32."""
    for one, other in zip(losses_of(serial), losses_of(parallel), strict=True):
        assert abs(one - other) < 1e-4, (one, other)


def numpy_file(dtype, count):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n"


def megatron_index(code, width, lengths):
    begins = [width * sum(lengths[:i]) for i in range(len(lengths))]
    index = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(lengths), len(lengths) + 1)
    index += array("i", lengths).tobytes() + array("q", begins).tobytes()
    return index + array("q", range(len(lengths) + 1)).tobytes()


def write_all(directory):
    def write(name, content):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)

    count, narrow, wide = len(TEXT), array("H", list(TEXT)).tobytes(), array("I", list(TEXT)).tobytes()
    write("text.txt", TEXT)
    write("uint16.bin", narrow)
    write("uint32.bin", wide)
    for name, magic, version, tokens in (("uint16", 20240520, 1, narrow), ("uint32", 20240801, 7, wide)):
        header = array("i", [magic, version, count] + [0] * 253)
        write(f"llmc-{name}.bin", header.tobytes() + tokens)
    write("array.npy", numpy_file("<u4", count) + wide)
    write("megatron.bin", wide)
    write("megatron.idx", megatron_index(4, 4, [1000, count - 1000]))
    write("bytes.bin", TEXT)
    write("bytes.idx", megatron_index(1, 1, [count]))
    # No place in data may end a run: separators in a row, a wrong id in the middle of a file, padding alone, and
    # documents without sequences or with empty ones.
    twice = list(TEXT)
    for place in range(40, len(twice), 90):
        twice[place] = twice[place + 1] = twice[place + 2] = 1
    write("twice.bin", array("H", twice).tobytes())
    middle = [5] * 300001
    middle[150000] = 200
    write("middle.bin", array("H", middle).tobytes())
    write("padding.bin", array("H", [256] * 2000).tobytes())
    write("empties.bin", wide)
    index = megatron_index(4, 4, [0, 1000, 0, count - 1000, 0])
    write("empties.idx", index)
    write("gaps.bin", wide)
    first = [0, 0, 2, 2, 4, 5, 5]  # sequences of documents
    write("gaps.idx", index[:26] + struct.pack("<Q", len(first)) + index[34:94] + array("q", first).tobytes())
    write("lines.jsonl", b'{"text": "a tessera"}\n' * 100)
    for suffix, module in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
        write("text.txt" + suffix, module.compress(TEXT))
    text = os.path.join(directory, "text.txt")
    with zipfile.ZipFile(os.path.join(directory, "text.zip"), "w") as archive:
        archive.write(text)
    with tarfile.open(os.path.join(directory, "text.tar"), "w") as archive:
        archive.add(text, "text.txt")


if __name__ == "__main__":
    if sys.argv[1] == "--same-loss":
        same_loss(sys.argv[2:])
    elif sys.argv[1] == "--near-loss":
        near_loss(*sys.argv[2:])
    else:
        write_all(sys.argv[1])
