"""Writes the inputs with which the corpus begins: small tokenizers with each part, and what is refused of each.

    make_corpus.py [FOLDER]       (default: corpus/Tokenizer beside this file)
"""
import base64
import json
import pathlib
import struct
import sys

TEXT = " The cafe\u0301's na\u00efve \u4e2d\u6587 \U0001f9ed 12,345!\t\u2581x\u00ad\u200b<s>\n  ABC <s> \ufffd"
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("corpus") / "Tokenizer")


def alphabet():
    """GPT-2's characters for bytes."""
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


def seed(name, file, text=TEXT):
    content = file if isinstance(file, bytes) else json.dumps(file, ensure_ascii=False, separators=(",", ":")).encode()
    encoded = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(bytes([len(encoded)]) + encoded + content)


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
    """A Darts trie that replaces 'A' by 'a' and U+FFFD by nothing, with its texts, as sentencepiece packs it."""
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


def main():
    folder.mkdir(parents=True, exist_ok=True)
    for write in (byte_level, template_errors, bert, unigram, sentencepiece_bpe, normalizers, pre_tokenizers, patterns,
                  added_tokens, broken):
        write()


main()
