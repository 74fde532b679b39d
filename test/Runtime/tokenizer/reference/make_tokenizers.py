#!/usr/bin/env python3
"""Makes a small tokenizer of each published family, configured as the original is, in directories of DIR, and with --answers
what the `tokenizers` package makes of texts.

    python3 make_tokenizers.py DIR VOCABULARY [FAMILY..]
    python3 make_tokenizers.py --answers DIR [FAMILY..]

Needs tokenizers and sentencepiece (made with 0.23.3 and 0.2.3); nothing of Tessera is used. Each directory has:

tokenizer.json, tokenizer_config.json, of "spm" families tokenizer.model
answers.json   texts (as base64) and their ids with and without special tokens, and the text that the former decode to;
               for each kilobyte of mixed_text.py's text the XXH64 of its ids as little-endian int32
"""
import base64
import json
import os
import pathlib
import sys
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mixed_text

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# OpenAI's o200k_base, of many younger models.
O200K = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
MARK = "▁"


def training_text(size=1000000):
    return mixed_text.mixed_text(size, 7, invalid=False).decode(errors="ignore")


def special(content, **options):
    return AddedToken(content, special=True, normalized=False, **options)


def byte_level(vocabulary, split, specials, normalizer=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = split
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(training_text().split("\n"), trainer)
    tokenizer.add_special_tokens([special(content) for content in specials])
    return tokenizer


def split_bytes(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2(vocabulary):
    tokenizer = byte_level(vocabulary, pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, "<|endoftext|>"


def llama3(vocabulary):
    tokenizer = byte_level(vocabulary, split_bytes(LLAMA3), ["<|begin_of_text|>", "<|end_of_text|>"], ignore_merges=True)
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B:1", special_tokens=[("<|begin_of_text|>", begin)])])
    return tokenizer, "<|end_of_text|>"


def qwen2(vocabulary):
    tokenizer = byte_level(vocabulary, split_bytes(QWEN2), ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], normalizers.NFC())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, "<|im_end|>"


def o200k(vocabulary):
    tokenizer = byte_level(vocabulary, split_bytes(O200K), ["<|endoftext|>"])
    tokenizer.add_tokens([AddedToken("hello", single_word=True), AddedToken("  ", normalized=False), AddedToken(" café", rstrip=True)])
    return tokenizer, "<|endoftext|>"


def roberta(vocabulary):
    tokenizer = byte_level(vocabulary, pre_tokenizers.ByteLevel(add_prefix_space=True), ["<s>", "</s>"])
    tokenizer.add_special_tokens([special("[MASK]", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")))
    return tokenizer, "</s>"


def bert(vocabulary, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator(training_text().split("\n"), trainer)
    tokenizer.add_special_tokens([special("[MASK]", lstrip=True)])
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, "[SEP]"


def bert_cased(vocabulary):
    return bert(vocabulary, lowercase=False)


def byte_tokens():
    return [f"<0x{byte:02X}>" for byte in range(256)]


def fallback_bpe(vocabulary):
    """Returns a BPE as the converter of transformers makes it of sentencepiece's: special tokens and bytes first."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary - 259, limit_alphabet=vocabulary // 3, show_progress=False)
    trained.train_from_iterator(training_text().split("\n"), trainer)
    model = json.loads(trained.to_str())["model"]
    tokens = list(dict.fromkeys(["<unk>", "<s>", "</s>"] + byte_tokens() + sorted(model["vocab"], key=model["vocab"].get)))
    merges = [tuple(merge) for merge in model["merges"]]
    vocab = {token: id for id, token in enumerate(tokens)}
    # LLaMA has runs of spaces, which are joined in the end.
    for length in (2, 4, 8, 16):
        if MARK * length not in vocab:
            vocab[MARK * length] = len(vocab)
            merges.append((MARK * (length // 2),) * 2)
    return models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)


def sentencepiece_decoder():
    return decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])


def finish_llama(tokenizer):
    tokenizer.decoder = sentencepiece_decoder()
    tokenizer.add_special_tokens([special("<unk>"), special("<s>"), special("</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer, "</s>"


def llama2(vocabulary):
    tokenizer = Tokenizer(fallback_bpe(vocabulary))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    return finish_llama(tokenizer)


def mistral(vocabulary):
    tokenizer = Tokenizer(fallback_bpe(vocabulary))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(MARK, "first", split=False)
    return finish_llama(tokenizer)


def train_sentencepiece(vocabulary, **options):
    import sentencepiece
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "text.txt")
        path.write_text("\n".join(line for line in training_text(150000).replace("\0", "").split("\n") if line.strip()))
        sentencepiece.SentencePieceTrainer.train(input=str(path), model_prefix=f"{directory}/spm", vocab_size=max(vocabulary, 1300), minloglevel=2,
                                                 num_threads=1, hard_vocab_limit=False, character_coverage=0.98, **options)
        return pathlib.Path(directory, "spm.model").read_bytes()


def small_rules():
    """Rules of the kinds that nmt_nfkc has, few enough to be stored."""
    rules = {"\t": " ", "\n": " ", "\r": " ", "\u3000": " ", "\u00a0": " ", "\u200b": " ", "\x01": "", "\ufeff": " ", "ﬁ": "fi", "ﬂ": "fl", "½": "1⁄2", "²": "2",
             "①": "1", "Ⅷ": "VIII", "㎏": "kg", "e\u0301": "é", "x\u0301\u0323": "x", "ｶ": "カ", "ｶﾞ": "ガ", "ﾊ": "ハ", "ﾝ": "ン", "ｸ": "ク", "…": "...",
             "\u0600": "#", "İ": "I", "\u0301": "'", "Å": "Å", "ℌ": "H"}
    rules = {old: new for old, new in rules.items() if old != new}
    rules.update({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)})
    return "".join(" ".join(f"{ord(c):X}" for c in old) + "\t" + " ".join(f"{ord(c):X}" for c in new) + "\n" for old, new in rules.items())


def rules_option(full):
    if full:
        return {"normalization_rule_name": "nmt_nfkc"}
    path = pathlib.Path(tempfile.gettempdir(), "small_rules.tsv")
    path.write_text(small_rules())
    return {"normalization_rule_tsv": str(path)}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def charsmap(model):
    """Returns normalizer_spec.precompiled_charsmap of sentencepiece_model.proto: field 2 of field 3."""
    def field(data, wanted):
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == 2:
                length, at = varint(data, at)
                if key >> 3 == wanted:
                    return data[at:at + length]
                at += length
            elif key & 7 == 0:
                _, at = varint(data, at)
            else:
                at += 4 if key & 7 == 5 else 8
        return b""
    return field(field(model, 3), 2)


def t5(vocabulary, scheme="always", words=False, full=False):
    import sentencepiece
    model = train_sentencepiece(vocabulary, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, byte_fallback=False, **rules_option(full))
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(len(processor))]
    tokenizer = Tokenizer(models.Unigram(pieces, 2, False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap(model)), normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), MARK)])
    metaspace = pre_tokenizers.Metaspace(MARK, scheme)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace]) if words else metaspace
    tokenizer.decoder = decoders.Metaspace(MARK, scheme)
    tokenizer.add_special_tokens([special("<pad>"), special("</s>"), special("<unk>"), special("<extra_id_0>", rstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer, "</s>"


def xlm(vocabulary):
    return t5(vocabulary, scheme="first", words=True)


def t5_full(vocabulary):
    return t5(vocabulary, full=True)


def unigram_bytes(vocabulary):
    """Trains Unigram with bytes, forms of compatibility and accents, words by other rules."""
    pieces, end = t5(vocabulary)
    model = json.loads(pieces.to_str())["model"]["vocab"]
    tokenizer = Tokenizer(models.Unigram([tuple(piece) for piece in model] + [(name, -20.0) for name in byte_tokens()], 2, True))
    tokenizer.add_special_tokens([special("<pad>"), special("</s>"), special("<unk>"), special("<extra_id_0>", rstrip=True)])
    tokenizer.post_processor = pieces.post_processor
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True),
                                                       pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Metaspace(MARK, "never", split=False)])
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(MARK, "never")])
    return tokenizer, end


def spm_bpe():
    """Trains a vocabulary as LLaMA 2's was trained."""
    return train_sentencepiece(1300, model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True), True


def without_ties(model):
    """Scores that no two ways to cut a word share: versions of sentencepiece choose differently among equals. No piece is a
    run of a character, which could stand before or after the rest of a longer run."""
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    for i, piece in enumerate(proto.pieces):
        if piece.type == proto.SentencePiece.NORMAL:
            is_run = len(piece.piece) > 1 and len(set(piece.piece)) == 1
            piece.score -= 100 if is_run else 0.01 * (i * 0.6180339887 % 1)
    return proto.SerializeToString()


def spm_unigram():
    """Trains a vocabulary as those of T5 and its kin were trained, with other rules and bytes."""
    return without_ties(train_sentencepiece(1300, model_type="unigram", byte_fallback=True, **rules_option(False))), False


SENTENCEPIECE = {f.__name__: f for f in (spm_bpe, spm_unigram)}
FAMILIES = {f.__name__: f for f in (gpt2, llama3, qwen2, o200k, roberta, bert, bert_cased, llama2, mistral, t5, xlm, t5_full, unigram_bytes)}
# These are not stored.
LARGE = {"t5_full"}


def make(directory, vocabulary, names):
    for name in names:
        if name in SENTENCEPIECE:
            model, begins = SENTENCEPIECE[name]()
            target = pathlib.Path(directory, name)
            target.mkdir(parents=True, exist_ok=True)
            (target / "tokenizer.model").write_bytes(model)
            (target / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": begins, "add_eos_token": not begins}))
            continue
        tokenizer, end = FAMILIES[name](vocabulary)
        target = pathlib.Path(directory, name)
        target.mkdir(parents=True, exist_ok=True)
        text = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
        (target / "tokenizer.json").write_text(text)
        (target / "tokenizer_config.json").write_text(json.dumps({"eos_token": end}))


# ---- answers ----
def texts():
    """Returns texts: each script, each oddity, and every invalid sequence in a text."""
    found = [text.encode() for text in mixed_text.SCRIPTS + mixed_text.OTHERS]
    found += [b"a" + bad + b"b" for bad in mixed_text.INVALID] + [b"", b"a", b" a", b"a ", b"  a  b  ", b"\xe2\x82"]
    found += [b"<s>hello</s> world", b"x[MASK]", b"  [MASK]  y", b"hellothere hello", b" caf\xc3\xa9  \n b", b"<|im_start|><|im_end|>"]
    return found


class SentencePiece:
    """With the interface of tokenizers."""

    def __init__(self, directory):
        import sentencepiece
        self.processor = sentencepiece.SentencePieceProcessor(model_file=f"{directory}/tokenizer.model")
        self.begins = json.loads((directory / "tokenizer_config.json").read_text())["add_bos_token"]

    def encode(self, text, add_special_tokens=True):
        ids, processor = self.processor.encode(text), self.processor
        around = ([processor.bos_id()] + ids) if self.begins else (ids + [processor.eos_id()])
        return type("Encoding", (), {"ids": around if add_special_tokens else ids})

    def decode(self, ids, skip_special_tokens=True):
        text = self.processor.decode([id for id in ids if not self.processor.is_control(id)])
        if skip_special_tokens:
            return text
        return "<s>" + text if self.begins else text + "</s>"

    def get_vocab(self):
        return {"": len(self.processor) - 1}


def answer(directory):
    import xxhash
    is_model = (directory / "tokenizer.model").exists()
    tokenizer = SentencePiece(directory) if is_model else Tokenizer.from_file(f"{directory}/tokenizer.json")
    cases = []
    for text in texts():
        plain = text.decode(errors="replace")
        ids = tokenizer.encode(plain).ids
        bare = tokenizer.encode(plain, add_special_tokens=False).ids
        cases.append([base64.b64encode(text).decode(), ids, bare, tokenizer.decode(ids, skip_special_tokens=False), tokenizer.decode(ids)])
    mixed = mixed_text.mixed_text(64 << 10, 3)
    hashes = []
    for at in range(0, len(mixed), 1024):
        ids = tokenizer.encode(mixed[at:at + 1024].decode(errors="replace"), add_special_tokens=False).ids
        hashes.append(xxhash.xxh3_64_hexdigest(b"".join(id.to_bytes(4, "little") for id in ids)))
    content = {"vocabulary": max(tokenizer.get_vocab().values()) + 1, "cases": cases, "mixed": hashes}
    pathlib.Path(directory, "answers.json").write_text(json.dumps(content, ensure_ascii=True, separators=(",", ":")))


if __name__ == "__main__":
    if sys.argv[1] == "--answers":
        for name in sys.argv[3:] or sorted(path.name for path in pathlib.Path(sys.argv[2]).iterdir() if path.is_dir()):
            answer(pathlib.Path(sys.argv[2], name))
    else:
        make(sys.argv[1], int(sys.argv[2]), sys.argv[3:] or [name for name in [*FAMILIES, *SENTENCEPIECE] if name not in LARGE])
