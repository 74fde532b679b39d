//===- Passes.td - programs beside the loss -------------------------------===//

#ifndef TESSERA_INFERENCE_PASSES_TD
#define TESSERA_INFERENCE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddEvaluationPass : Pass<"nn-add-evaluation", "::mlir::ModuleOp"> {
  let summary = "Adds a program that measures the loss and changes nothing";
  let description = [{
    Before: a serial `@loss` whose cross-entropy has the tag `cross_entropy`.
    After: also `@evaluation` (`nn.evaluation`), a copy of it without dropout
    and without other parts of the loss. It returns the mean of the
    cross-entropy over the labels that count, the number of these that the
    largest logit predicts, and how many count. Negative labels do not count,
    even where those of a step all do, if `@loss` sums the cross-entropy of all
    positions with `nn.einsum "bs->"`; of any other sum there is no such number.
    A module whose loss has no such tag gets no evaluation.
  }];
}

def AddGenerationPass : Pass<"nn-add-generation", "::mlir::ModuleOp"> {
  let summary = "Makes the programs that run a model for requests";
  let description = [{
    Before: a serial `@loss` of a causal decoder. After: `@decode`, `@mixed` and
    `@score` (`nn.generation`) replace it, or with `beside-training` follow it.
    They run rows, each with an id, a slot and a position. They take and return
    caches of keys and values. `@decode` has a row for each slot of a lane; the
    other two also have `chunk` rows of prompts. `@decode` and `@mixed` return
    the logits of at most one row for each slot, or with `candidates` the best of
    them, one that is drawn from all, and the sum by which probabilities are
    divided. `@score` returns no logits; for each row it returns the
    log-probability of its label, and how many logits come before the label's.

    A slot has as many places as `@loss` has positions. The ranks of `cp` share
    the places, and so do those of `tp` if they do not divide the key heads:
    places are dealt out to them in turn, and a few are added so that all ranks
    have as many.

    The rows of an encoder-decoder model are those of its decoder. `@encode`
    stands beside the other programs (`nn.beside`): it runs a whole source for
    each lane through the encoder, and appends the keys and values that
    cross-attention reads to caches of their own.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "1", "Independent groups of slots: ranks of dp and ep">,
    Option<"slots", "slots", "int64_t", "4", "Requests that a lane runs at a time">,
    Option<"chunk", "chunk", "int64_t", "64", "Rows of prompts in a step of a lane">,
    Option<"candidates", "candidates", "int64_t", "0", "Best logits that a step returns of each slot, and no others; 0: all logits">,
    Option<"besideTraining", "beside-training", "bool", "false", "Leave `@loss`, for a training step with the same parameters">,
    Option<"contextRanks", "context-ranks", "int64_t", "1", "Ranks of cp, which share the places of a slot">,
    Option<"tensorRanks", "tensor-ranks", "int64_t", "1", "Ranks of tp, which share key heads or, where they do not divide these, places">
  ];
}

def AddEncodingPass : Pass<"nn-add-encoding", "::mlir::ModuleOp"> {
  let summary = "Makes the program that runs an encoder";
  let description = [{
    Before: a serial `@loss` of an encoder with a masked-language-model head, or
    of an encoder-decoder model.
    After: `@encode` (`nn.generation`) replaces it, without dropout, labels and
    loss. It returns the last hidden states of a batch, and the logits at
    `positions` of each sequence, at most `predictions` of them. No logits are
    computed at other positions. A position below 0 means that none is asked
    for. Of an encoder-decoder model only the encoder is left (up to the op with
    the tag `memory`), without the decoder's parameters, and hidden states are
    all that it returns.
  }];
  let options = [
    Option<"predictions", "predictions", "int64_t", "0", "Positions of a sequence whose logits can be asked for; 0: 16; more than it has are as many as it has">
  ];
}

#endif // TESSERA_INFERENCE_PASSES_TD
