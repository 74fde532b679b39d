//===- Passes.td - where every buffer lies -----------------*- tablegen -*-===//

#ifndef TESSERA_MEMORY_PASSES_TD
#define TESSERA_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateSharingPass : Pass<"rt-annotate-sharing", "::mlir::ModuleOp"> {
  let summary = "Says which results a kernel may write over its arguments";
  let description = [{
    Before: kernels, functions with `rt.schedule`. After: each has
    `rt.may_share`, the list of [argument, result] that may have the same memory
    because no element is read after it is written. The memory plan reads it.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def GroupLaunchesPass : Pass<"rt-group-launches", "::mlir::ModuleOp"> {
  let summary = "Puts launches of one kernel side by side";
  let description = [{
    Before: `@step` of rt ops on tensors in SSA form, kernels with
    `rt.may_share`. After: where launches of the optimizer follow one another,
    they are sorted. A launch stays behind those whose results it reads, and
    behind those that read what it may write over; otherwise launches of one
    kernel come together, so that rt-batch-launches can make them one. Views and
    scalars between them are moved before them. Forward launches that read
    parameters alone, such as casts of weights, come together where the first of
    them is, by kernel, if their results are at most 64 KiB or read in backward:
    then they are in memory at the peak anyway.
  }];
}

def InsertCopiesPass : Pass<"rt-insert-copies", "::mlir::ModuleOp"> {
  let summary = "Inserts the copies that writing in place needs";
  let description = [{
    Before: `@step` of rt ops on tensors in SSA form. After: every alias rule of
    docs/MemoryPlan.md holds. A value that an op writes in place is not read
    later, parts of a concatenation are written by their producers, and loops
    write their next values over the previous ones. A kept value (`rt.keep`)
    that would be overwritten is copied. An update that cannot be written over
    its parameter is an error.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def PlanMemoryPass : Pass<"rt-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every tensor a static offset in the rank's arena";
  let description = [{
    Before: `@step` after rt-insert-copies.
    After: arguments have `rt.offset`, ops with tensor results `rt.offsets`, in
    bytes; the module has `rt.arena` and `rt.arena_by_kind`. Parameters and
    moments come first, then inputs, then values, which share memory where their
    lifetimes do not overlap.
  }];
  let options = [
    Option<"keepsInputs", "keep-inputs", "bool", "false",
           "Keep inputs of at most 4 KiB of launches of one kernel that follow "
           "one another until the last, so that these can run as one">,
  ];
}

def CheckMemoryPass : Pass<"rt-check-memory", "::mlir::ModuleOp"> {
  let summary = "Checks that every read sees the value that was written";
  let description = [{
    Before: `@step` with offsets. After: unchanged. The pass follows the bytes
    of the arena through the program (loops twice). It does not look at
    lifetimes, so it shares no reasoning with the plan.
  }];
}

#endif // TESSERA_MEMORY_PASSES_TD
