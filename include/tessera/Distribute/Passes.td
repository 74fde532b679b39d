//===- Passes.td - from a serial model to a typed training step -----------===//

#ifndef TESSERA_DISTRIBUTE_PASSES_TD
#define TESSERA_DISTRIBUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AddLoraPass : Pass<"nn-add-lora", "::mlir::ModuleOp"> {
  let summary = "Adds adapters of low rank beside linear layers";
  let description = [{
    Before: a serial `@loss`. After: the product y = x W of every target is
    followed by y + alpha / rank (x A) B, with parameters A `[rank, in]`,
    initialized as peft does, and B `[out, rank]`, which starts at zero (Hu et
    al. 2021, arXiv 2106.09685). Their names are those of peft, and the new ops
    have `nn.adapter`. All other parameters have `nn.frozen`. A target is a
    module's name or the part of it after a dot; `all-linear` means all linear
    layers except heads and routers. The pass adds the `adapter_config.json`
    that peft reads to `nn.config_files`. A target that names no linear layer is
    an error.
  }];
  let options = [
    Option<"rank", "rank", "int64_t", "8", "Columns of x A, at least 1">,
    Option<"alpha", "alpha", "double", "8", "The adapter is scaled by alpha / rank">,
    Option<"dropout", "dropout", "double", "0", "Of what A reads, from 0 to below 1">,
    ListOption<"targets", "targets", "std::string", "Names of linear layers, or all-linear">
  ];
}

def DecomposeLayersPass : Pass<"nn-decompose-layers", "::mlir::ModuleOp"> {
  let summary = "Writes attention, norms and rotations as products, sums and maps";
  let description = [{
    Before: a serial `@loss`. After: each `nn.attention`, `nn.layer_norm`,
    `nn.rms_norm` and `nn.rope` is a formula of `nn.einsum`, `nn.add`, `nn.map`,
    `nn.max`, `nn.embedding` and `nn.dropout`, which are differentiated one by
    one. `verify` compares the step with one that the pass has changed, so that
    a fault in a kernel of attention shows, although the serial and the parallel
    program share it. Attention computes the scores of all queries and all keys
    of a batch, whatever their sequence and head, and a mask leaves those that
    belong together: there is no block, no running maximum and no recomputation.
    Positions and heads are compared as numbers of tables. Dropout draws the
    same numbers. The attribute `nn.formula` of the module says how many ops are
    replaced, and why others are not: attention whose log-sum-exp the program
    reads, or with too many scores.
  }];
}

def FreezeParametersPass : Pass<"nn-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "Marks the parameters that are not trained";
  let description = [{
    Before: a serial `@loss`. After: every parameter whose name matches one of
    `patterns` has `nn.frozen`: it gets no gradient, no moments and no update.
    In a pattern `*` stands for any characters, `?` for one, `[0-3]` for one of a
    range. A pattern that matches nothing, and a program of frozen parameters
    alone, are errors.
  }];
  let options = [
    ListOption<"patterns", "patterns", "std::string", "Patterns of names, e.g. *.wte.*">
  ];
}

def MixedPrecisionPass : Pass<"nn-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "Matrix products in bf16, everything else in f32";
  let description = [{
    Before: a serial `@loss` in f32. After: every matrix product has `compute =
    bf16` and states the element type of its result. Values that only matrix
    products read, directly or through ops that keep the type (bias, activation,
    attention, dropout), are bf16. Parameters, the residual stream, what a norm
    reads and the loss stay f32. Gradients have the element type of their value.
    If the program is trained, the logits of its cross-entropy are bf16, too; a
    cast widens them for what reads them.
    Frozen parameters (`nn.frozen`) that only matrix products read are bf16. If
    the program is not trained, all parameters count as frozen, and tables of
    embeddings are bf16, too: the rows that are looked up are widened.
    docs/Precision.md says why.
  }];
  let options = [
    Option<"trains", "trains", "bool", /*default=*/"true",
           "Whether a training step is made of the program">
  ];
}

def QuantizeWeightsPass : Pass<"nn-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Stores the matrices of products in int8";
  let description = [{
    Before: a serial `@loss` that is not trained. After: each parameter that
    only matrix products and embeddings read, a product among them, has elements
    of i8, unless a product chooses experts by it. An argument `nn.channels`
    beside it holds a scale for each index of the parameter's dimensions that
    products do not sum over. A product reads the integers, and its result is
    multiplied by the scales; so are rows that are looked up. Products of
    experts take the scales themselves. docs/Precision.md says why.
  }];
}

def FixOrderPass : Pass<"nn-fix-order", "::mlir::ModuleOp"> {
  let summary = "Asks for sums in an order that no mesh changes";
  let description = [{
    Before: a serial `@loss`. After: the module has `dist.layout_invariant`, so
    that the typing rule lets only ops that do not round read partial sums.
    Scale factors are applied after the reduction, by ops of their own.
    docs/Invariance.md says why.
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", "8",
           "Largest number of chunks of a sum, and so of ranks that share it; a power of 2">
  ];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def AssignStagesPass : Pass<"dist-assign-stages", "::mlir::ModuleOp"> {
  let summary = "Cuts the model into chunks, one after the other";
  let description = [{
    Before: a serial `@loss`, or `@encode`. After: every op has `dist.chunk`. The pass cuts the
    program after ops of the residual stream (`nn.tag = #nn.tag<stream>`) into
    `stages * virtual-stages` chunks, so that the largest chunk has as few flops
    as possible, or into chunks with the numbers of layers that `layers` lists.
    The ops before the first layer are in the first chunk, and those after the
    last layer in the last chunk; these two may have no layers.
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "Size of the axis pp, at least 1">,
    Option<"virtualStages", "virtual-stages", "int64_t", "1", "Chunks per stage, at least 1">,
    ListOption<"layers", "layers", "int64_t", "Number of layers of each chunk; if empty, the pass balances flops">
  ];
}

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

def DistributePass : Pass<"dist-distribute", "::mlir::ModuleOp"> {
  let summary = "Distributes a serial program over a mesh by Megatron's rules";
  let description = [{
    Before: functions of `nn` ops without distribution. After: the module has
    `dist.mesh`; every value has a distribution, and every op obeys the typing
    rule. The `nn.dims` of parameters and data say what an axis shards: `tp`
    shards heads (`n`), feed-forward (`f`) and vocabulary (`v`), `dp` the batch
    (`b`), and `cp` the sequence (`s`), or in programs with caches their places
    (`l`). `tp` shards places too if it does not divide the key heads (`g`).

    For each op and axis the pass chooses the cheapest row of the rule: sharded
    parameters stay sharded, then sharded values stay sharded, then the fewest
    bytes win. The residual stream (`nn.tag = #nn.tag<stream>`) is `I` on `tp`,
    or `S` of its sequence with `sequence-parallel`. `tp` splits no parameter of
    `replicated-layers`: all ranks compute the same there, or with
    `sequence-parallel` their own tokens. With `zero` the resting
    sharding of parameters is `S` on `dp`, and they are gathered (`S -> R`)
    before they are used; this includes frozen parameters (`nn.frozen`) only
    with `splits-frozen`. A value is converted once per axis and state. On `pp`,
    an op of `dist.chunk` c is at `A(c mod pp)`, and so is a parameter that only
    this stage uses; other parameters are `I`.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"",
           "Axes and sizes, e.g. \"dp=2,tp=4\"; the last varies fastest">,
    Option<"sequenceParallel", "sequence-parallel", "bool", "false",
           "Activations between blocks are split over tp">,
    ListOption<"replicatedLayers", "replicated-layers", "std::string",
               "Layers, numbered from 0, whose parameters tp does not split: 0-3,5">,
    Option<"zero", "zero", "bool", "false",
           "Parameters and optimizer state are split over dp">,
    Option<"splitsFrozen", "splits-frozen", "bool", "false",
           "With zero also parameters that have nn.frozen, which have no state">,
    Option<"contextParallel", "context-parallel", "std::string", "\"all-gather\"",
           "Attention over cp: all-gather (of keys and values), ulysses or ring">
  ];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def DifferentiatePass : Pass<"nn-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends the backward program";
  let description = [{
    Before: a function `@loss` whose one result is a scalar, `I` on every axis.
    After: `@gradients` returns the loss and the gradient of every parameter
    without `nn.frozen`; gradients that only frozen parameters need are not
    computed. The gradients of a value's uses are added before the conversion of
    the value is transposed. A gradient whose distribution is not the dual of
    its value's is an error.
  }];
}

def RecomputePass : Pass<"nn-recompute", "::mlir::ModuleOp"> {
  let summary = "Computes forward values again in backward instead of keeping them";
  let description = [{
    Before: `@gradients` for one micro-batch. After: backward reads clones of
    forward ops (`nn.phase = #nn.phase<recompute>`) instead of values that are
    not kept. A clone stands right before its first use; that of a gather stands
    where the other operands of its first reader exist, so that it overlaps with
    computation.

    `gathers` repeats the gathers of activations that are split over `tp`.
    `selective` repeats ops that are cheap for their bytes: elementwise ops,
    dropout, norms, gathers of split activations. It never repeats a matrix
    product, attention or another collective. `full` also repeats whole layers
    from their inputs. `ranges` gives layers a mode of their own. Among the
    values that may be repeated, the pass keeps the fewest bytes (a minimum
    cut). Clones have the attributes of the ops that they repeat, so dropout
    masks are the same.
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"none\"", "none, gathers, selective, full">,
    Option<"layers", "layers", "int64_t", "-1",
           "With full: the number of layers, from the first; -1 for all">,
    ListOption<"ranges", "ranges", "std::string",
               "Layers, numbered from 0, with a mode other than the rest: 0-3=full,5=none">
  ];
}

def RegatherPass : Pass<"dist-regather", "::mlir::ModuleOp"> {
  let summary = "Gathers parameters anew where they are used again";
  let description = [{
    Before: `@gradients`, in which a parameter is gathered once (`S -> R`),
    before its first use. After: if another parameter is gathered between two
    uses, the parameter is gathered again before the second, in backward too. So
    a gathered parameter lives no longer than one part of the model. This is
    stage 3 of ZeRO.
  }];
}

def MicroBatchPass : Pass<"nn-micro-batch", "::mlir::ModuleOp"> {
  let summary = "Runs forward and backward once per micro-batch";
  let description = [{
    Before: `@gradients`, for one micro-batch. After: data arguments have a
    leading dimension `count`. Everything except the conversions of parameters,
    of their gradients and of the loss is inside `nn.micro_batches`, so
    gradients are reduced once per step. With `dist.layout_invariant` they are
    reduced in every micro-batch. With `zero` of 2 a gradient is scattered as
    soon as it is complete, in every micro-batch; with 3 parameters are also
    gathered there (Rajbhandari et al. 2020). A value with `nn.tag =
    #nn.tag<batch_total>`, such as the number of labels that count, depends only
    on data. A separate loop sums it over all micro-batches first.
  }];
  let options = [
    Option<"count", "count", "int64_t", "1", "Micro-batches per step, at least 1">,
    Option<"zero", "zero", "int64_t", "0", "Stage of ZeRO, 0 to 3">
  ];
}

def AssignOwnersPass : Pass<"dist-assign-owners", "::mlir::ModuleOp"> {
  let summary = "Gives each parameter one rank of dp that updates it";
  let description = [{
    Before: `@gradients` on a mesh whose axis `dp` has several ranks, parameters
    `I` on it. After: each gradient is kept at one of these ranks, `A(o)`, as soon
    as it is a sum; nn-add-optimizer then updates the parameter there and
    broadcasts it. Parameters are assigned in order of size, the largest first;
    each goes to the rank that owns the fewest bytes so far.
    The ranks of `dp` are the servers of a parameter server (Li et al. 2014).
  }];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def ChooseDecayPass : Pass<"nn-choose-decay", "::mlir::ModuleOp"> {
  let summary = "Takes nn.decay from parameters that patterns name";
  let description = [{
    Before: `@loss`. After: its parameters that a pattern matches have no
    `nn.decay`. A pattern that matches no parameter is an error.
  }];
  let options = [
    ListOption<"except", "except", "std::string",
               "Names of parameters, in which * stands for any letters, [0-3] for one of these">
  ];
}

def AddOptimizerPass : Pass<"nn-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "Appends gradient clipping and the update of all parameters";
  let description = [{
    Before: `@gradients`. After: `@step` takes and returns parameters and
    moments. It takes the learning rate and, for AdamW, the bias corrections,
    and returns loss, gradient norm and whether the step was applied: if loss or
    norm is not finite, all state stays as it is. Decay acts on parameters with
    `nn.decay`. The norm counts every parameter once on every mesh.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw, sgd, lion or muon">,
    Option<"weightDecay", "weight-decay", "double", "0.1", "Weight decay">,
    Option<"clip", "clip", "double", "1.0", "Largest global gradient norm; 0 for no clipping">,
    Option<"epsilon", "epsilon", "double", "1e-8", "Added to the root of the second moment">,
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.95", "Decay of the second moment">,
    Option<"momentum", "momentum", "double", "0.95", "Decay of the momentum of sgd and muon">,
    Option<"nesterov", "nesterov", "bool", "false", "sgd: look ahead along the momentum">
  ];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def MaskPaddingPass : Pass<"dist-mask-padding", "::mlir::ModuleOp"> {
  let summary = "States what padding holds and masks it where it would be read";
  let description = [{
    Before: `@step`, typed. After: the module has `dist.masked`, and the type of
    each value says what its padding holds. The pass inserts `dist.mask` in two
    places: before a sum or a maximum that would read padding which changes its
    result, and before a value that is kept from step to step and would not have
    zeros in its padding. The verifier checks this from here to `rt-localize`.
    If the mesh divides all sizes, nothing changes.
  }];
  let options = [
    Option<"poison", "poison", "bool", "false",
           "Write numbers or NaN into padding where its type allows them, to test that nothing depends on it">
  ];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def MarkChunkedSumsPass : Pass<"nn-mark-chunked-sums", "::mlir::ModuleOp"> {
  let summary = "Marks every sum with the factor that it adds in chunks";
  let description = [{
    Before: `@step`, typed, of a module with `dist.layout_invariant`. After: ops
    that contract a factor which a mesh axis may split have it in
    `dist.chunked_sums`, with the number of chunks: the largest power of 2, up to
    the module's, that divides its size. The letters of `nn.dims` tell which
    factors these are, so that the marks are the same on every mesh. A matrix
    product without such a factor has an empty mark. A mesh whose ranks cannot
    share the chunks evenly is an error.
  }];
  let dependentDialects = ["::tessera::dist::DistDialect"];
}

def ErasePass : Pass<"dist-erase", "::mlir::ModuleOp"> {
  let summary = "Erases every distribution and conversion";
  let description = [{
    Before: a distributed program. After: the serial program that it denotes.
    `tessera verify` uses the pass: the result must be the serial program, op
    for op. An op that nn-recompute added is erased if an earlier op has the
    same name, attributes (except for the phase) and erased operands. Otherwise
    it stays, and the programs differ.
  }];
}

#endif // TESSERA_DISTRIBUTE_PASSES_TD
