"""Writes the inputs with which the corpus begins: small tokenizers with each part, and what is refused of each.

    make_corpus.py [FOLDER]       (default: corpus beside this file)
"""
import base64
import json
import pathlib
import struct
import sys

TEXT = " The cafe\u0301's na\u00efve \u4e2d\u6587 \U0001f9ed 12,345!\t\u2581x\u00ad\u200b<s>\n  ABC <s> \ufffd"
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("corpus"))


def alphabet():
    """Returns GPT-2's characters for bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) for byte in printable] + [chr(256 + i) for i in range(len(others))]


def bpe(tokens, merges, **more):
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys([*tokens, *("".join(m) for m in merges)]))}
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary,
            "merges": [list(merge) for merge in merges], **more}


def added(number, content, **flags):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True, **flags}


def tokenizer(model, tokens=(), **parts):
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens), "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model}
    return {**file, **parts}


def seed(name, file, text=TEXT, target="Tokenizer"):
    content = file if isinstance(file, bytes) else json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()
    encoded = text.encode() if isinstance(text, str) else text
    (folder / target / name).write_bytes(bytes([len(encoded)]) + encoded + content)


LETTERS = list("abcdefghijklmnopqrstuvwxyzABCT0123456789 ,.!'\u2581\u00ef\u4e2d")
SMALL = bpe(LETTERS, [("t", "h"), ("th", "e"), ("\u2581", "the"), ("a", "f")], unk_token="a")
BYTES = bpe(alphabet(), [("T", "h"), ("Th", "e"), ("\u0120", "The"), ("1", "2")])
FALLBACK = bpe([*LETTERS, "<unk>", *(f"<0x{byte:02X}>" for byte in range(256))], [("t", "h")], unk_token="<unk>",
               byte_fallback=True, fuse_unk=True)
REGEX = {"Regex": r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"}


def byte_level():
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    ends = added(len(BYTES["vocab"]), "<s>")
    seed("gpt2", tokenizer(BYTES, [ends], pre_tokenizer=level, post_processor=level, decoder=level))
    split = {"type": "Split", "pattern": REGEX, "behavior": "Isolated", "invert": False}
    sequence = {"type": "Sequence", "pretokenizers": [split, {**level, "use_regex": False}]}
    around = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                       {"Sequence": {"id": "A", "type_id": 0}},
                                                       {"SpecialToken": {"id": "<s>", "type_id": 0}}],
              "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [ends["id"]], "tokens": ["<s>"]}}}
    seed("llama3", tokenizer({**BYTES, "ignore_merges": True}, [ends], pre_tokenizer=sequence, decoder=level,
                             post_processor={"type": "Sequence", "processors": [around, level]}))
    seed("not-utf-8", tokenizer(BYTES, [ends], pre_tokenizer=level, decoder=level), b"\xff\xe4\xb8\0\xf0\x9f\xa7")
    seed("bytes-by-normalizer", tokenizer(BYTES, normalizer={"type": "ByteLevel"}, decoder=level))


def template_errors():
    around = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
              "special_tokens": {}}
    seed("template-without-text", tokenizer(SMALL, post_processor={**around, "single": []}))
    seed("template-twice", tokenizer(SMALL, post_processor={**around, "single": 2 * around["single"]}))
    seed("template-beyond", tokenizer(SMALL, post_processor={
        **around, "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, *around["single"]],
        "special_tokens": {"x": {"id": "x", "ids": [9999], "tokens": ["x"]}}}))
    seed("roberta", tokenizer(SMALL, post_processor={"type": "RobertaProcessing", "sep": ["a", 0], "cls": ["b", 1],
                                                      "trim_offsets": True, "add_prefix_space": False}))
    seed("pair-of-three", tokenizer(SMALL, post_processor={"type": "BertProcessing", "sep": ["a", 0, 1],
                                                            "cls": ["b", 1]}))
    seed("other-processor", tokenizer(SMALL, post_processor={"type": "Other"}))


def bert():
    vocabulary = ["[UNK]", "[CLS]", "[SEP]", "the", "ca", "##fe", "na", "##ive", "abc", "1", "##2", "'", "s", "!", "x",
                  "do", "not", ".", "\u4e2d"]
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 8, "vocab": {token: i for i, token in enumerate(vocabulary)}}
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                  "lowercase": True}
    decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    special = [added(0, "[UNK]"), added(1, "[CLS]"), added(2, "[SEP]")]
    processor = {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}
    parts = {"normalizer": normalizer, "decoder": decoder, "post_processor": processor,
             "pre_tokenizer": {"type": "BertPreTokenizer"}}
    seed("bert", tokenizer(model, special, **parts), TEXT + " naivenaive12 do not.")
    seed("bert-cased", tokenizer(model, special, **{**parts, "normalizer": {**normalizer, "lowercase": False}}))
    seed("wordpiece-unknown", tokenizer({**model, "unk_token": "none"}, **parts))
    seed("wordpiece-no-pieces", tokenizer({**model, "vocab": {}}, **parts))


def charsmap():
    """Returns a Darts trie that replaces 'A' by 'a' and U+FFFD by nothing, with its texts, as sentencepiece packs it."""
    units = [0] * 512

    def put(at, label, offset=0, leaf=False):
        units[at] = label | (1 << 8 if leaf else 0) | offset << 10
    put(0, 0, 256)
    put(256 ^ ord("A"), ord("A"), 64, leaf=True)
    units[(256 ^ ord("A")) ^ 64] = 1 << 31 | 0
    packed = struct.pack("<512I", *units)
    return base64.b64encode(struct.pack("<I", len(packed)) + packed + b"a\0").decode()


def unigram():
    scores = [["<unk>", 0.0], ["\u2581", -2.0], ["\u2581the", -3.0], *([letter, -5.0] for letter in LETTERS[:40])]
    model = {"type": "Unigram", "unk_id": 0, "vocab": scores}
    space = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    normalizer = {"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": charsmap()}, {"type": "Strip", "strip_left": False,
                                                                      "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Nmt"}]}
    seed("t5", tokenizer(model, [added(0, "<unk>")], normalizer=normalizer, pre_tokenizer=space, decoder=space))
    for scheme in "first", "never":
        other = {**space, "prepend_scheme": scheme, "add_prefix_space": scheme == "first", "split": False}
        seed("metaspace-" + scheme, tokenizer(model, pre_tokenizer=other, decoder=other))
    seed("metaspace-contradicts", tokenizer(model, pre_tokenizer={**space, "add_prefix_space": False}))
    seed("metaspace-other", tokenizer(model, pre_tokenizer={**space, "prepend_scheme": "last"}))
    seed("replacement-of-two", tokenizer(model, pre_tokenizer={**space, "replacement": "ab"}))
    seed("unigram-bytes", tokenizer({"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": scores
                                     + [[f"<0x{byte:02X}>", -9.0] for byte in range(256)]}, decoder=space))
    seed("unigram-unknown", tokenizer({**model, "unk_id": None}, pre_tokenizer=space))
    seed("unigram-empty", tokenizer({**model, "vocab": []}))
    seed("unigram-piece", tokenizer({**model, "vocab": [["<unk>"]]}))
    for name, value in ("torn", "AAAA"), ("letter", "A*"), ("size", "/////w=="), ("padding", "AA=A"):
        seed("charsmap-" + name, tokenizer(model, normalizer={"type": "Precompiled", "precompiled_charsmap": value}))


def sentencepiece_bpe():
    decoder = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}]}
    normalizer = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    seed("llama2", tokenizer(FALLBACK, [added(FALLBACK["vocab"]["<unk>"], "<unk>")], normalizer=normalizer,
                             decoder=decoder))
    prefixes = bpe(["a", "b", "##b", "b</w>", "##b</w>", "?"], [("a", "##b</w>")], unk_token="?", fuse_unk=True,
                   continuing_subword_prefix="##", end_of_word_suffix="</w>")
    prefixes["vocab"] = {token: i for i, token in enumerate(["a", "b", "##b", "b</w>", "##b</w>", "?", "ab</w>"])}
    seed("prefix-and-suffix", tokenizer(prefixes, pre_tokenizer={"type": "WhitespaceSplit"},
                                        decoder={"type": "BPEDecoder", "suffix": "</w>"}), "ab b zab \u00e9\u00e9")
    seed("long-word", tokenizer(bpe(LETTERS, [("a", "a"), ("b", "a"), ("aa", "aa"), ("aaaa", "b")])), 60 * "aaab")
    seed("empty-suffix", tokenizer(SMALL, decoder={"type": "BPEDecoder", "suffix": ""}))


def normalizers():
    for name in "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt":
        seed("normalizer-" + name.lower(), tokenizer(SMALL, normalizer={"type": name}))
    seed("normalizer-other", tokenizer(SMALL, normalizer={"type": "Uppercase"}))
    seed("normalizer-key", tokenizer(SMALL, normalizer={"type": "NFC", "x": 1}))
    seed("strip-left", tokenizer(SMALL, normalizer={"type": "Strip", "strip_left": True, "strip_right": False}))


def pre_tokenizers():
    for name in "Whitespace", "WhitespaceSplit", "BertPreTokenizer":
        seed("split-" + name.lower(), tokenizer(SMALL, pre_tokenizer={"type": name}))
    for each in True, False:
        seed(f"digits-{each}", tokenizer(SMALL, pre_tokenizer={"type": "Digits", "individual_digits": each}))
    seed("punctuation", tokenizer(SMALL, pre_tokenizer={"type": "Punctuation", "behavior": "Contiguous"}))
    seed("delimiter", tokenizer(SMALL, pre_tokenizer={"type": "CharDelimiterSplit", "delimiter": "a"}))
    seed("other-pre-tokenizer", tokenizer(SMALL, pre_tokenizer={"type": "UnicodeScripts"}))
    for behavior in "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous", "Joined":
        for inverts in True, False:
            seed(f"{behavior.lower()}-{inverts}", tokenizer(SMALL, pre_tokenizer={
                "type": "Split", "pattern": {"String": "a"}, "behavior": behavior, "invert": inverts}))


def patterns():
    taken = [r"[\s\S]\w+\W?", r"[^\p{L}\P{N}\p{^Lu}]|\P{Han}", r"\x41\x{1F9ED}[\u4e2d-\u6587]", r"a{2,3}|b{,4}|{x}|^$",
             r"(?:a)(?=b)(?!c)(?<=d)(?<!e)(?>f)(?i:g)(?-i:h)(?i)i(?-i)j\A\z\n\d", r"[\D\n-]|\p{L}{1,}"]
    refused = [r"a\b", r"[a[b]]", r"[a&&b]", r"(?m:.)", r"a{2}+", r"\h", "(a", "[]", "a\\", r"\pL", r"\x{}", r"[\W]",
               r"\p{Other}", r"[a", r"\u12", r"(a*)*b"]
    for i, pattern in enumerate([*taken, *refused]):
        seed(f"pattern-{i}", tokenizer(SMALL, pre_tokenizer={
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}))
    seed("pattern-none", tokenizer(SMALL, pre_tokenizer={
        "type": "Split", "pattern": {}, "behavior": "Isolated", "invert": False}))


def added_tokens():
    first = len(SMALL["vocab"])
    flags = [{"lstrip": True}, {"rstrip": True}, {"single_word": True}, {"normalized": True, "special": False}]
    tokens = [added(first + i, f"<{'st'[i % 2]}{i}>", **flag) for i, flag in enumerate(flags)]
    seed("added", tokenizer(SMALL, tokens, normalizer={"type": "Lowercase"}), " <s0> <t1> x<s2> <s2> <T3> <S0>")
    seed("added-again", tokenizer(SMALL, [added(0, "a"), added(first, "ab")]), "a ab")
    seed("added-later", tokenizer(SMALL, [added(first + 5, "<s>")]))
    seed("added-empty", tokenizer(SMALL, [added(first, "")]))


def broken():
    for name, change in {"dropout": {"dropout": 0.1}, "merge-of-three": {"merges": ["a b c"]},
                         "merge-unknown": {"merges": [["a", "\u00e9"]]}, "merges-object": {"merges": {}},
                         "merges-text": {"merges": ["#version: 0.2", "t h"]},
                         "merge-without-prefix": {"continuing_subword_prefix": "##", "merges": [["t", "h"]]}, "id-negative": {"vocab": {"a": -1}},
                         "vocabulary-array": {"vocab": []}, "vocabulary-empty": {"vocab": {}}, "model-key": {"x": 1},
                         "unknown-missing": {"unk_token": "none"}, "far-id": {"vocab": {"a": 3, "b": 70000}, "merges": []}
                         }.items():
        seed(name, tokenizer({**SMALL, **change}))
    seed("word-level", tokenizer({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}))
    seed("version", tokenizer(SMALL, version="2.0"))
    seed("no-model", {"version": "1.0"})
    seed("array", b"[]")
    seed("torn", json.dumps(tokenizer(SMALL)).encode()[:300])
    seed("part-is-text", tokenizer(SMALL, decoder="ByteLevel"))
    seed("other-decoder", tokenizer(SMALL, decoder={"type": "CTC"}))
    seed("no-decoder", tokenizer(SMALL))


def limits():
    """Writes inputs that would grow, or take the square of a text's length, without limits."""
    runs = 200 * "a"
    for name, expression in ("nested", "(a+)+b"), ("square", "a+[bc]"), ("between", "a*"), ("ahead", "a+(?!a)|(?=a*b)"):
        seed("limit-" + name, tokenizer(SMALL, pre_tokenizer={
            "type": "Split", "pattern": {"Regex": expression}, "behavior": "MergedWithNext", "invert": False}), runs)
    twice = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    seed("limit-twice", tokenizer(SMALL, normalizer={"type": "Sequence", "normalizers": 8 * [twice]},
                                  decoder={"type": "Sequence", "decoders": 8 * [twice]}), runs)
    seed("limit-decoder", tokenizer(SMALL, decoder={"type": "Sequence", "decoders": 8 * [twice]}), runs)
    seed("limit-prepend", tokenizer(SMALL, normalizer={"type": "Prepend", "prepend": runs}), "a")
    seed("limit-word", tokenizer({**FALLBACK, "continuing_subword_prefix": runs, "merges": []}), 128 * "x")
    first = len(SMALL["vocab"])
    for side in "lstrip", "rstrip":
        seed("limit-" + side, tokenizer(SMALL, [added(first, " ", **{side: True}), added(first + 1, " a")]), 100 * " " + "a")
    for name, offset, texts in ("within", 1, "\u00e9\0".encode()), ("beyond", 99, b"a\0"), ("bytes", 0, b"\xff\0"):
        table = base64.b64encode(rules(offset, texts)).decode()
        seed("charsmap-" + name, tokenizer(SMALL, normalizer={"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": table},
            {"type": "Strip", "strip_left": True, "strip_right": True}]}), "A A")
    seed("marks", tokenizer(SMALL, normalizer={"type": "NFC"}), "a" + 30 * "\u0301\u0316\u0344" + "\u0f73")


def rules(offset, texts, more=None):
    """Returns a Darts trie that replaces 'A' by what begins at `offset` of `texts`; `more` are other units."""
    units = [0x800000FF] * 512
    units[0] = 256 << 10
    units[256 ^ ord("A")] = ord("A") | 1 << 8 | 64 << 10
    units[256 ^ ord("A") ^ 64] = 1 << 31 | offset
    for place, unit in (more or {}).items():
        units[place] = unit
    return struct.pack("<I512I", 4 * 512, *units) + texts


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    """Returns a field of protobuf: a number, or what has bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text, score=0.0, kind=1):
    return field(1, field(1, text) + field(2, score) + field(3, kind))


def sentencepiece_models():
    first = piece("<unk>", kind=2) + piece("<s>", kind=3) + piece("</s>", kind=3)
    letters = first + b"".join(piece(letter, -1.0 - i / 8) for i, letter in enumerate("\u2581abcdefhnTxC12"))
    words = letters + b"".join(piece(text, -9.0 - i) for i, text in enumerate(["Th", "The", "\u2581The", "ca", "na"]))
    table = field(3, field(1, "nmt") + field(2, rules(0, b"a \0")))
    every = b"".join(piece(f"<0x{byte:02X}>", kind=6) for byte in range(256))
    models = {
        "unigram": words + field(2, field(3, 1)) + table, "bpe": words + field(2, field(3, 2)) + table,
        "bytes": words + every + field(2, field(3, 2) + field(35, 1)), "words": words + field(2, field(3, 3)),
        "unused": words + piece("\u2581Theb", -0.5, 5) + piece("b", 0.0, 5) + field(2, field(3, 2)),
        "user": words + b"".join(piece(count * "a", kind=4) for count in range(2, 9)) + field(2, field(44, "?")),
        "user-nested": words + b"".join(piece(count * "a", kind=4) for count in range(2, 70)),
        "denormalizer": words + field(5, field(2, rules(0, b"b\0"))), "test": words + field(4, field(1, field(1, "a"))),
        "rule-within": words + field(3, field(2, rules(1, "\u00e9\0".encode()))),
        "rule-long": words + field(3, field(2, rules(0, 40 * b"b"))), "rules-torn": words + field(3, field(2, b"\xff\xff")),
        "rule-far": words + field(3, field(2, struct.pack("<II", 4, 9 << 10))),
        "ids": words + field(2, field(42, 99)), "twice": words + piece("a"), "no-unknown": piece("a"), "unknowns": 2 * first,
        "no-letters": first, "score": words + piece("z", float("inf")), "kind": words + piece("z", kind=9),
        "empty-piece": words + piece(""), "not-utf-8": words + piece(b"\xff"), "byte": words + piece("<0x0A>", kind=6),
        "no-byte": words + piece("q", kind=6), "few-bytes": words + piece("<0x0A>", kind=6) + field(2, field(35, 1)),
        "surface": words + field(2, field(44, 99 * "?")), "torn": words[:-3], "group": b"\x0b", "field": b"\0\0",
        "long-number": b"\x08" + 11 * b"\xff", "fixed": words + b"\x09" + 8 * b"\1" + b"\x0d" + 4 * b"\1", "fixed-torn": b"\x09a",
    }
    for name, model in models.items():
        seed(name, model, target="SentencePiece")
    b, c, d = (256 ^ ord(letter) for letter in "bcd")
    shared = {b: ord("b") | (b ^ 128) << 10, c: ord("c") | (c ^ 128) << 10, 128 ^ ord("d"): ord("d") | 1 << 10}
    for name, table in {"loop": rules(0, b"b\0", {b: ord("b") | (b ^ 256) << 10}), "shared": rules(0, b"b\0", shared),
                        "root": rules(0, b"b\0", {0: 256 << 10 | ord("b"), b: ord("b") | (b ^ ord("b")) << 10}),
                        "beyond": rules(99, b"b\0"), "texts": rules(0, b"\xff\0")}.items():
        seed("rules-" + name, words + field(3, field(2, table)), target="SentencePiece")
    seed("unknown", words, 80 * "\u4e2d", target="SentencePiece") # repeated by the target
    seed("unknown-between", words + piece("\u4e2d\u6587"), "a" + 80 * "\u4e2d", target="SentencePiece")
    seed("unknown-within", words + piece("\u4e2d\u6587"), 80 * "\u4e2d", target="SentencePiece")
    bare = piece("<unk>", kind=2) + piece("a") + piece("b")
    for text in "", "a", "ab", "aba":
        seed(f"bare-{len(text)}", bare, text, target="SentencePiece")
    lower = b"".join(piece(f"<0x{byte:02x}>", kind=6) for byte in range(256))
    seed("bytes-lower", words + lower + field(2, field(35, 1)), target="SentencePiece")
    seed("empty", b"", target="SentencePiece")


def main():
    for target in "Tokenizer", "SentencePiece":
        (folder / target).mkdir(parents=True, exist_ok=True)
    for write in (byte_level, template_errors, bert, unigram, sentencepiece_bpe, normalizers, pre_tokenizers, patterns,
                  added_tokens, broken, limits, sentencepiece_models):
        write()


main()
