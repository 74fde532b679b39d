#!/usr/bin/env python3
"""Times encoding by libtessera_tokenizer and by the `tokenizers` package in one process and on one thread, in turn.

    python3 bench/tokenizer.py LIBRARY TOKENIZERS TEXT.. [--rounds N]

LIBRARY is libtessera_tokenizer.so; TOKENIZERS a directory with a folder per tokenizer, as
test/Runtime/tokenizer/reference/make_tokenizers.py makes them; the texts, joined, are encoded as documents of 16 KB and as one.
Prints MB per second of this thread's time: of the first round, where neither has met a word, and the medians of the others;
and compares all ids.
"""
import argparse
import ctypes
import os
import pathlib
import statistics
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        runtime = ctypes.CDLL(str(pathlib.Path(path).with_name("libtessera_runtime.so")))
        runtime.tsr_last_error.restype = ctypes.c_char_p
        self.last_error = runtime.tsr_last_error

    def check(self, status):
        if status:
            raise RuntimeError(self.last_error().decode())

    def load(self, folder):
        handle = ctypes.c_void_p()
        self.check(self.library.tsr_tokenizer_load(str(folder).encode(), ctypes.byref(handle)))
        return handle

    def encode(self, handle, text):
        """Encodes a text; the ids lie in the library until the next call."""
        ids, count = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_size_t()
        self.check(self.library.tsr_tokenizer_encode(handle, text, ctypes.c_size_t(len(text)), 0, ctypes.byref(ids), ctypes.byref(count)))
        return ids, count.value


def seconds(encode, texts):
    begin = time.thread_time()
    for text in texts:
        encode(text)
    return time.thread_time() - begin


def compare(library, folder, documents, rounds):
    ours, theirs = library.load(folder), tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = [document.decode(errors="replace") for document in documents]
    size = sum(map(len, documents)) / 1e6
    own, other = [], []
    for _ in range(rounds + 1):
        own.append(seconds(lambda document: library.encode(ours, document), documents))
        other.append(seconds(lambda text: theirs.encode(text, add_special_tokens=False), texts))
    for document, text in zip(documents, texts):
        ids, count = library.encode(ours, document)
        assert ids[:count] == theirs.encode(text, add_special_tokens=False).ids, folder
    return [(size / own[0], size / other[0]), (size / statistics.median(own[1:]), size / statistics.median(other[1:]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library")
    parser.add_argument("tokenizers", type=pathlib.Path)
    parser.add_argument("texts", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    content = b"".join(path.read_bytes() for path in options.texts)
    step = 16 << 10
    cut = [content[at:at + step] for at in range(0, len(content), step)]
    library = Library(options.library)
    print(f"{len(content) / 1e6:.2f} MB, tokenizers {tokenizers.__version__}, MB/s: ours, theirs, ratio; of the first round and then")
    for folder in sorted(path.parent for path in options.tokenizers.glob("*/tokenizer.json")):
        for what, documents in (("16 KB", cut), ("one", [content])):
            speeds = compare(library, folder, documents, options.rounds)
            print(f"{folder.name:14} {what:6}" + "".join(f" {own:8.1f} {other:8.1f} {own / other:6.1f}" for own, other in speeds), flush=True)


if __name__ == "__main__":
    main()
