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
    sums and row means (statistics are shared between forward and backward,
    normalized values are recomputed); sums to a scalar are row sums and a sum
    of rows.
  }];
}

def LowerRingsPass : Pass<"rt-lower-rings", "::mlir::ModuleOp"> {
  let summary = "Attention over split keys becomes a ring: keys and values go from rank to rank";
  let description = [{
    Before: local nn ops; attention may have some of the keys only
    (`dist.ring`). After: it is `rt.ring_attention` over the rank's own keys,
    then over those of each rank before it, which `rt.shift` brings while the
    last ones are used. With a causal mask they are two chunks, an early and a
    late one, that `rt.zigzag` brings and takes back, so that every rank has the
    same work in every step. In backward the gradients of keys and values travel
    along and end where their keys are.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def LowerExpertsPass : Pass<"rt-lower-experts", "::mlir::ModuleOp"> {
  let summary = "Routing, exchange and products of experts become library calls";
  let description = [{
    Before: local nn ops. After: `nn.top_k` and ops on rows [experts, batch,
    sequence, ..] are `rt.routed`, which compute routed rows only.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def CompactRowsPass : Pass<"rt-compact-rows", "::mlir::ModuleOp"> {
  let summary = "Buffers of experts' rows hold the routed ones, not one for every expert and token";
  let description = [{
    Before: `rt.routed` on rows [experts, batch, sequence, columns]. After: rows are
    [rows, columns], the routed ones in order of experts and then of tokens, with
    room for tokens x min(k, experts of the rank): `nn.top_k` routes a token to at
    most k experts. Elementwise ops on rows work on as many, and exchanges are
    `rt.exchange_rows`. All ops on the same rows read the same value of gates. Rows whose gates do not come from one `nn.top_k`, or that
    another op reads, stay as they are. What verify keeps is expanded.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def BoundRowsPass : Pass<"rt-bound-rows", "::mlir::ModuleOp"> {
  let summary = "Experts work in rounds where more rows come than their buffers hold";
  let description = [{
    Before: `rt.exchange_rows` between a rank's own rows and those of its experts,
    which have room for all that a router can send. After: the latter have room for
    `factor` times the even share. What the first round makes of them is kept for
    backward; `rt.row_rounds` numbers the rounds, and later ones follow the first,
    as often as all rows together need. They move and multiply nothing where a
    router sends no more rows. Backward makes again what it reads of them.
  }];
  let options = [
    Option<"factor", "factor", "double", /*default=*/"1.25",
           "Rows that fit, times the even share">,
    Option<"raise", "raise", "bool", /*default=*/"false",
           "Make room for more rows where these would need too many rounds; otherwise that is an error">,
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def LowerLibraryPass : Pass<"rt-lower-library", "::mlir::ModuleOp"> {
  let summary = "Matrix products, attention and lookups' gradients become library calls";
  let description = [{
    Before: local nn ops. After: contractions are `rt.gemm` (with bias and
    accumulation folded in), attention is `rt.attention` on views of the fused
    projection, embedding gradients are `rt.scatter_add`. Everything else is
    left for kernels.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def GemmEpiloguesPass : Pass<"rt-gemm-epilogues", "::mlir::ModuleOp"> {
  let summary = "GELU, its gradient and bias gradients become part of matrix products";
  let description = [{
    Before: local nn ops between rt ops. After: where a product makes what only
    GELU (tanh) needs at once, the product applies it and saves its own result
    for backward; where only GELU's gradient reads a product, the product
    multiplies by it; where rows are summed that are also the terms of a
    product, the product makes the sums. Kernels that do more, and GELU (erf),
    which the library does not have, stay.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def RecomputeElementwisePass : Pass<"rt-recompute-elementwise", "::mlir::ModuleOp"> {
  let summary = "Kernels of backward compute again what is as cheap as to read";
  let description = [{
    Before: local nn ops between rt ops. After: a forward value that only kernels
    read, and that a few elementwise ops make from one value of at most its size,
    is computed again where backward reads it: a cast, the activation of a gated
    layer. With `functions`, so is a costly function of a value that backward does
    not keep otherwise, such as `exp(logits - max)` of a loss: that saves forward's
    store and no memory. Kernels of forward do not store the value; its argument is
    kept instead. Results have the same bits.
  }];
  let options = [
    Option<"functions", "functions", "bool", /*default=*/"false",
           "Functions such as exp and tanh cost less than a store">,
  ];
}

def FormKernelsPass : Pass<"rt-form-kernels", "::mlir::ModuleOp"> {
  let summary = "What lies between library calls is fused into kernels";
  let description = [{
    Before: local nn ops between rt ops. After: only rt ops. Each group of ops over
    the same rows and columns is one `rt.launch` of a private function of `linalg`
    ops with `rt.schedule` "row" or "column". Equal kernels are shared. What can be
    in a kernel, and how, an op says itself (`KernelOpInterface`); an op without a
    lowering is an error.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::math::MathDialect"];
}

def PadRowsPass : Pass<"rt-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Rows of an odd length get padding, so that all begin aligned";
  let description = [{
    Before: rt ops and kernels. After: a value of rows of at least `least`
    elements and no multiple of 8, that only matrix products and kernels make
    and read, has `#rt.row_stride`, rows a multiple of `elements` apart: the
    logits of a vocabulary of 50257, and their gradient.
    The library's products of bf16 need rows at multiples of 16 bytes to be
    fast, and kernels can move 16 bytes at once. Nobody reads the padding.
  }];
  let options = [
    Option<"elements", "elements", "int64_t", /*default=*/"64",
           "Rows begin at multiples of this">,
    Option<"least", "least", "int64_t", /*default=*/"512",
           "Shorter rows stay as they are">,
  ];
}

#endif // TESSERA_LOWER_PASSES_TD
