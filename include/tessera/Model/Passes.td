//===- Passes.td - from a serial model to a serial model ------------------===//

#ifndef TESSERA_MODEL_PASSES_TD
#define TESSERA_MODEL_PASSES_TD

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

#endif // TESSERA_MODEL_PASSES_TD
