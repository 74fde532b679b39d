"""Trains the tokenizer of this folder: a byte-level BPE as GPT-2's, of 4096 tokens.

    make_tokenizer.py TEXT...      (writes tokenizer.json beside this file; needs: pip install tokenizers)

It was made of the texts that run.sh trains on. Other texts are better served by a tokenizer of their own.
"""
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCABULARY = 4096
END = "<|endoftext|>"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[END],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    texts = (pathlib.Path(path).read_text(encoding="utf-8", errors="replace") for path in sorted(sys.argv[1:]))
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(pathlib.Path(__file__).with_name("tokenizer.json")), pretty=False)


main()
