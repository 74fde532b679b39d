//===- Passes.td - who holds and computes what ----------------------------===//

#ifndef TESSERA_DISTRIBUTE_PASSES_TD
#define TESSERA_DISTRIBUTE_PASSES_TD

include "mlir/Pass/PassBase.td"

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
           "Parameters and optimizer state are split over dp and cp">,
    Option<"splitsFrozen", "splits-frozen", "bool", "false",
           "With zero also parameters that have nn.frozen, which have no state">,
    Option<"contextParallel", "context-parallel", "std::string", "\"all-gather\"",
           "Attention over cp: all-gather (of keys and values), ulysses or ring">
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
