//===- Passes.td - from a typed loss to a typed training step -------------===//

#ifndef TESSERA_TRAIN_PASSES_TD
#define TESSERA_TRAIN_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // TESSERA_TRAIN_PASSES_TD
