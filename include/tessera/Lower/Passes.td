//===- Passes.td - from nn ops to runtime calls and kernels ---------------===//

#ifndef TESSERA_LOWER_PASSES_TD
#define TESSERA_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def RoundOperandsPass : Pass<"rt-round-operands", "::mlir::ModuleOp"> {
  let summary = "Operands of matrix products are cast to the type of the product";
  let description = [{
    Before: local nn ops; a matrix product may have `compute`. After: operands of
    a matrix product have that type. A value is cast once for all its uses,
    where it is made; a parameter before its first use, outside of loops.
  }];
}

def DecomposePass : Pass<"rt-decompose", "::mlir::ModuleOp"> {
  let summary = "Norms and full sums become ops that one kernel pass computes";
  let description = [{
    Before: local nn ops. After: layer norms and their gradients are products,
    sums and row means. Forward and backward share the statistics; normalized
    values are recomputed. Sums to a scalar are row sums and a sum of rows. Ops
    of other dialects are what the patterns of `LoweringDialectInterface` make of
    them. Each op is visited once, in program order.
  }];
}

def LowerRingsPass : Pass<"rt-lower-rings", "::mlir::ModuleOp"> {
  let summary = "Attention over split keys becomes a ring: keys and values go from rank to rank";
  let description = [{
    Before: local nn ops; attention may have only a part of the keys
    (`dist.ring`). After: attention is `rt.ring_attention` over the rank's own
    keys, then over those of each rank before it. `rt.shift` brings the next
    keys while the current ones are used. With a causal mask the keys of a rank
    are two chunks, an early and a late one, that `rt.zigzag` brings and takes
    back, so that every rank has the same work in every step. In backward the
    gradients of keys and values travel along and end where their keys are.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def LowerExpertsPass : Pass<"rt-lower-experts", "::mlir::ModuleOp"> {
  let summary = "Routing, exchange and products of experts become library calls";
  let description = [{
    Before: local nn ops. After: `nn.top_k` and ops on rows [experts, batch,
    sequence, ..] are `rt.routed`, which computes only routed rows.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def CompactRowsPass : Pass<"rt-compact-rows", "::mlir::ModuleOp"> {
  let summary = "Buffers of experts' rows hold the routed ones, not one for every expert and token";
  let description = [{
    Before: `rt.routed` on rows [experts, batch, sequence, columns]. After: rows
    are [rows, columns]: only the routed ones, ordered by expert and then by
    token. There is room for tokens x min(k, experts of the rank), because
    `nn.top_k` routes a token to at most k experts. Elementwise ops work on as
    many rows, and exchanges are `rt.exchange_rows`. All ops on the same rows
    read the same value of gates. Rows whose gates do not come from one
    `nn.top_k`, or that another op reads, stay as they are. Values that verify
    keeps are expanded.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def BoundRowsPass : Pass<"rt-bound-rows", "::mlir::ModuleOp"> {
  let summary = "Experts work in rounds where more rows come than their buffers hold";
  let description = [{
    Before: `rt.exchange_rows` between a rank's own rows and those of its
    experts, whose buffers have room for all rows that a router can send. After:
    these buffers have room for `factor` times the even share. `rt.row_rounds`
    numbers the rounds. The results of the first round are kept for backward; as
    many rounds follow as all rows together need. They move and multiply nothing
    if a router sends no more rows. Backward computes again what it reads of the
    later rounds. With `pairs` the rows of each rank's tokens are numbered
    separately, so that in a round no pair of ranks exchanges more than its share
    of the room.
  }];
  let options = [
    Option<"factor", "factor", "double", /*default=*/"1.25",
           "Rows that fit, times the even share">,
    Option<"raise", "raise", "bool", /*default=*/"false",
           "Make room for more rows where these would need too many rounds; otherwise that is an error">,
    Option<"pairs", "pairs", "bool", /*default=*/"false",
           "Number the rounds of each pair of ranks apart">,
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def PackMessagesPass : Pass<"rt-pack-messages", "::mlir::ModuleOp"> {
  let summary = "Rows of experts travel in messages whose sizes do not depend on the router";
  let description = [{
    Before: `rt.exchange_rows`, in rounds of pairs of ranks if in any. After: each is an
    `rt.all_to_all` of messages with room for all that a router can send to a rank or,
    in rounds, for the share of a round, of which the last has what is left. Rows are put
    into them by `rt.pack_rows` and taken out by `rt.unpack_rows`.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def LowerLibraryPass : Pass<"rt-lower-library", "::mlir::ModuleOp"> {
  let summary = "Matrix products, attention and lookups' gradients become library calls";
  let description = [{
    Before: local nn ops. After: contractions and sums in chunks are `rt.gemm`
    (with bias and accumulation folded in), attention is `rt.attention` on views
    of the fused projection, embedding gradients are `rt.scatter_add`, ops of
    other dialects are what the patterns of `LoweringDialectInterface` make of
    them. Everything else is left for kernels; an op that patterns refuse and
    that no kernel can compute is an error. Each op is visited once by the
    patterns that make calls, by those that fold sums into calls, and by those
    that turn slices into views, in program order.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def GemmEpiloguesPass : Pass<"rt-gemm-epilogues", "::mlir::ModuleOp"> {
  let summary = "GELU, its gradient and bias gradients become part of matrix products";
  let description = [{
    Before: local nn ops between rt ops. After: matrix products do more in three
    cases. If only GELU (tanh) needs a product's result at once, the product
    applies GELU and saves its own result for backward. If only GELU's gradient
    reads a product, the product multiplies by it. If rows are summed that are
    also the terms of a product, the product computes the sums. Kernels that do
    more stay, and so does GELU (erf), for which the library has no epilogue.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def RecomputeElementwisePass : Pass<"rt-recompute-elementwise", "::mlir::ModuleOp"> {
  let summary = "Kernels of backward compute again what is as cheap as to read";
  let description = [{
    Before: local nn ops between rt ops. After: backward computes some forward
    values again where it reads them. These are values that only kernels read
    and that a few elementwise ops compute from one value of at most the same
    size: a cast, the activation of a gated layer. A costly function of a value
    that backward does not keep otherwise, such as `exp(logits - max)` of a
    loss, is one of them if that value has a narrower type, or with `functions`,
    which saves the store in forward but no memory. Kernels of forward do not
    store the value; its argument is kept instead. Results have the same bits.
  }];
  let options = [
    Option<"functions", "functions", "bool", /*default=*/"false",
           "Functions such as exp and tanh cost less than a store">,
  ];
}

def FormKernelsPass : Pass<"rt-form-kernels", "::mlir::ModuleOp"> {
  let summary = "What lies between library calls is fused into kernels";
  let description = [{
    Before: local nn ops between rt ops. After: only rt ops. Each group of ops
    over the same rows and columns is one `rt.launch` of a private function of
    `linalg` ops with `rt.schedule` "row" or "column". With `reduces-columns`,
    a reduction along columns joins a kernel of rows that has read or made the
    same values; its schedule is then "both". Equal kernels are shared. Masks, and
    casts to a wider type, are repeated in each kernel that reads them, so their
    results are not stored. An op itself says whether and how it can be part of a
    kernel (`KernelOpInterface`); an op without a lowering is an error.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::math::MathDialect"];
  let options = [
    Option<"reducesColumns", "reduces-columns", "bool", /*default=*/"false",
           "Kernels of rows also reduce along columns; CUDA kernels can">,
  ];
}

def PadRowsPass : Pass<"rt-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Rows of an odd length get padding, so that all begin aligned";
  let description = [{
    Before: rt ops and kernels. After: some values have `#rt.row_stride`, so
    that their rows begin at multiples of `elements`. These are values that only
    matrix products and kernels compute and read, with rows of at least `least`
    elements whose length is no multiple of 8: the logits of a vocabulary of
    50257, and their gradient. The library's products of bf16 need rows at
    multiples of 16 bytes to be fast, and kernels can move 16 bytes at once.
    Nothing reads the padding.
  }];
  let options = [
    Option<"elements", "elements", "int64_t", /*default=*/"64",
           "Rows begin at multiples of this">,
    Option<"least", "least", "int64_t", /*default=*/"512",
           "Shorter rows stay as they are">,
  ];
}

#endif // TESSERA_LOWER_PASSES_TD
