//===- Passes.td - from global shapes to one program per rank -------------===//

#ifndef TESSERA_PARTITION_PASSES_TD
#define TESSERA_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NumberValuesPass : Pass<"rt-number-values", "::mlir::ModuleOp"> {
  let summary = "Gives every value a name by which runs are compared";
  let description = [{
    Before: `@step`, typed. After: ops record the number and the global type of
    their results in `rt.keep`. The serial and the parallel program have the
    same nn ops in the same order, so equal numbers are equal values. A gradient
    `g f'(x)` whose `f'` is a step function also records the names of `g` and
    `x` in `step`.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def SplitStagesPass : Pass<"dist-split-stages", "::mlir::ModuleOp"> {
  let summary = "One program per pipeline stage, its tasks in the order of a schedule";
  let description = [{
    Before: `@step`, typed, on a mesh with `pp`. After: `@step_0`, `@step_1`,
    ..., with `rt.stage`, each with what is at `A(s)` or on all stages. The
    micro-batch loop holds each of the stage's tasks and messages (`rt.task`)
    once. `A(s) -> A(t)` is `rt.send` and `rt.receive`, and `A(s) -> I` is
    `rt.broadcast`; other conversions from and to a stage become nothing or
    zeros. The tasks and messages of all stages and micro-batches are sorted
    into one order. Every stage keeps its part of that order in `rt.order`, so
    programs cannot wait for each other in a circle. The module has the schedule
    in `rt.pipeline`.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"",
           "gpipe, 1f1b, interleaved or zero-bubble">
  ];
  let dependentDialects = ["::tessera::rt::RTDialect", "::mlir::arith::ArithDialect"];
}

def SplitOwnersPass : Pass<"dist-split-owners", "::mlir::ModuleOp"> {
  let summary = "One program per rank of dp, for the parameters that it owns";
  let description = [{
    Before: `@step`, typed, with values that are `A(o)` on `dp`. After: `@step_0`,
    `@step_1`, ..., with `rt.stage` and `rt.stage_axis`. A sum that only `A(o)`
    reads, `P -> I -> A(o)`, is `rt.send` to the owner, which adds what it
    receives in the order of an all-reduce, neighbours first. `A(o) -> I` is
    `rt.broadcast`; other conversions from and to an owner become nothing or
    zeros. All programs have their messages in one order.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def LocalizePass : Pass<"rt-localize", "::mlir::ModuleOp"> {
  let summary = "Global, distributed types become local shapes";
  let description = [{
    Before: `@step`, typed. After: no encoding and no `dist` op is left; arguments
    remember their global type in `rt.global`; ops with a split factor carry its
    span in `rt.factors`; conversions that communicate are `rt` collectives with
    a `reason`. With `keep`, ops remember the global types of their results in
    `rt.keep`, so that `tessera verify` can compare them.
  }];
  let options = [Option<"keep", "keep", "bool", "false",
                        "Remember every value for comparison">];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def ExpandMicroBatchesPass : Pass<"rt-expand-micro-batches", "::mlir::ModuleOp"> {
  let summary = "The micro-batch loop becomes a loop with accumulators";
  let description = [{
    Before: `nn.micro_batches` on local tensors. After: its body inline (one
    micro-batch), or an `rt.loop` that starts from zeros and adds. With `peel`,
    if a collective of backward reads such a sum, the last micro-batch is taken
    out of the loop and follows it. The last sum of each gradient is then
    computed in straight-line code, with work after it. The last micro-batch is
    always taken out of a loop with tasks.
  }];
  let options = [
    Option<"peel", "peel", "bool", /*default=*/"false",
           "The last micro-batch follows the loop, if gradients are reduced">,
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

#endif // TESSERA_PARTITION_PASSES_TD
