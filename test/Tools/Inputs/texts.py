"""Writes texts to be tokenized into a directory; --same, --without-first and --separators look at the tokens that were
made of them, --many writes a long file, and --growth compares the memory (MiB) that a command takes for two files."""
import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from array import array

FIRST = "A tessera is one tile of a mosaic: naïve café 😀.\nEnd of the first text. " * 5
SECOND = "def f(x):\n    return x ** 2\n"


def tokens(path, skipped=0, code="H"):
    with open(path, "rb") as file:
        return list(array(code, file.read()[skipped:]))


def write_all(directory):
    def write(name, content):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(content)

    one_line = [FIRST.replace("\n", " "), SECOND.replace("\n", " ")]
    write("a.txt", FIRST)
    write("b.txt", SECOND)
    write("lines.txt", "\r\n".join(one_line) + "\r\n")
    write("gap.txt", "one\n\ntwo\n")
    write("empty.txt", "")
    write("control.txt", "\x01\x02")
    for name, key in (("both", "text"), ("other", "content")):
        write(name + ".jsonl", "".join(json.dumps({"id": 1, key: text}) + "\n" for text in (FIRST, SECOND)))
    def write_bytes(name, content):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)

    gaps = '{"text": "one"}\n\n{"text": ""}\n{"text": "two"}\n{"text": null}\n  \n'
    write("gaps.jsonl", gaps)
    write("gaps.json", gaps)
    write("array.json", '[\n {"text": "a [1, {\\"2\\"]"}, "two",\n{"id": [1], "text": "3"} ]\n')
    write("pretty.json", json.dumps({"text": "four", "more": {"text": []}}, indent=2))
    write("torn.json", '{"text": "one"}\n{"text": "two')
    write("comma.json", '[{"text": "one"},]')
    beyond = "\U00020BB7\U0002A6D6\U000E0100\U0010FFFF\U0001F600"
    write("escapes.jsonl", json.dumps({"text": "a" + beyond}) + "\n" + json.dumps({"text": "b"}))
    write("escapes.txt", "a" + beyond + "\nb")
    write("lone.jsonl", '{"text": "a\\ud842b"}\n')
    write("mark.txt", "\ufeff" + SECOND)
    end = "<|endoftext|>"
    write("separators.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in
                                      (end + "abc" + end, "x" + end + end + "y", end, "z")))
    write("letters.txt", "a\nb\n" * 40)
    write("lfs.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n")
    write_bytes("a.jsonl.gz", gzip.compress(b'{"text": "one"}\n' * 9))
    write_bytes("a.bz2", bz2.compress(b"one two three\n" * 9))
    write_bytes("a.xz", lzma.compress(b"one two three\n" * 9))
    write_bytes("a.zst", b"\x28\xB5\x2F\xFD\x24\x04\x21\x00\x00one\n\xFF\xFF")
    write_bytes("a.zip", b"PK\x03\x04\x14\0\0\0" + bytes(40))
    write_bytes("a.parquet", b"PAR1" + bytes(64) + b"PAR1")
    write_bytes("utf16.txt", "Straße\n".encode("utf-16"))
    write_bytes("utf16be.jsonl", '{"text": "Straße"}\n'.encode("utf-16-be"))
    write_bytes("utf32.txt", "Straße\n".encode("utf-32"))
    write_bytes("latin1.txt", b"x" * 49 + b"\n" + (b"y" * 49 + b"\n") * 29999 + "Straße\n".encode("latin-1"))
    write_bytes("cut.txt", b"ab\xe2\x82")
    write_bytes("zero.txt", b"one\nt\0wo\n")
    write("deep.jsonl", "[" * 100000 + "\n")
    os.mkdir(os.path.join(directory, "model"))
    with open(os.path.join(os.path.dirname(__file__), "tiny", "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config["vocab_size"] = 901
    write("model/config.json", json.dumps(config))


def same(directory):
    def read(name, **options):
        return tokens(os.path.join(directory, name), **options)

    raw = read("raw.bin")
    end = raw[-1]
    assert raw.count(end) == 2, raw
    for name in ("megatron.bin", "other.bin"):
        assert read(name) == raw, name
    assert read("llmc.bin", skipped=1024) == raw
    assert read("input.bin") == raw[:raw.index(end) + 1]
    assert read("wide.bin", code="I").count(end) == 2
    index = open(os.path.join(directory, "megatron.idx"), "rb").read()
    assert list(array("i", index[34:42])) == [raw.index(end) + 1, len(raw) - raw.index(end) - 1], index


def separators(path):
    ids = tokens(path)
    end = ids[-1]
    assert ids[0] != end and ids.count(end) == 4, ids
    assert all(pair != (end, end) for pair in zip(ids, ids[1:])), ids


def many(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps({"text": f"document {number} of the many, of which each is a short one", "id": number,
                                   "more": "x" * 30}) + "\n")


def growth(most, small, large, command):
    def peak(path):
        process = subprocess.Popen(command + [path])
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
        return usage.ru_maxrss  # KiB

    least = peak(small)
    grown = peak(large) - least
    assert grown < most << 10, f"{command[0]} took {grown} KiB more for {large} than for {small}"


if sys.argv[1] == "--separators":
    separators(sys.argv[2])
elif sys.argv[1] == "--many":
    many(sys.argv[2], int(sys.argv[3]))
elif sys.argv[1] == "--growth":
    growth(int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
elif sys.argv[1] == "--same":
    same(sys.argv[2])
elif sys.argv[1] == "--without-first":
    assert tokens(sys.argv[2])[1:] == tokens(sys.argv[3])
else:
    write_all(sys.argv[1])
