"""Writes texts to be tokenized into a directory; --same and --without-first compare the tokens that were made of them."""
import json
import os
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
    write("empty.jsonl", '{"text": ""}\n')
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


if sys.argv[1] == "--same":
    same(sys.argv[2])
elif sys.argv[1] == "--without-first":
    assert tokens(sys.argv[2])[1:] == tokens(sys.argv[3])
else:
    write_all(sys.argv[1])
