//===- Passes.td - when collectives and messages run -------*- tablegen -*-===//

#ifndef TESSERA_COMMUNICATE_PASSES_TD
#define TESSERA_COMMUNICATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def MergeCollectivesPass : Pass<"rt-merge-collectives", "::mlir::ModuleOp"> {
  let summary = "Sums over several axes at once, and of several tensors at once";
  let description = [{
    Before: `@step` of rt ops. After: an all-reduce of an all-reduce is one over
    the axes of both. All-reduces over the same axes whose results are not needed
    before the last of them are one, of the tensors joined in memory, as long as
    these are no larger than a bucket together: `bucket-bytes`, or less, so that
    there are `least-buckets`.
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400",
           "The most bytes of a bucket; 0: no buckets">,
    Option<"leastBuckets", "least-buckets", "int64_t", "8",
           "Of what can be joined, at least 1">
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def OverlapCollectivesPass : Pass<"rt-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Starts collectives as soon as possible and waits late";
  let description = [{
    Before: `@step` of rt ops. After: a collective that has work to do between
    the op that makes its last operand and the first op that needs its result is
    `async`, stands behind the former, and has an `rt.wait` before the latter.
    Where a message is sent in between it stands behind that: another stage waits
    for it.
    Nothing else moves, and nothing in which ranks with different programs meet.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def OverlapMessagesPass : Pass<"rt-overlap-messages", "::mlir::ModuleOp"> {
  let summary = "Messages between stages, or to owners, run beside the program";
  let description = [{
    Before: programs of rt ops with `rt.send` and `rt.receive`. After: all of
    these are `async`. A receive starts right behind the message before it and is
    waited for before its first use; a send is waited for before the tensor is
    written over, and before the next send: others may read it meanwhile. Messages keep their order.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def CheckMessagesPass : Pass<"rt-check-messages", "::mlir::ModuleOp"> {
  let summary = "Checks that no rank waits for ever";
  let description = [{
    Before: the lowered programs of all stages. After: unchanged; `rt.messages`
    counts what was checked. Runs the sends, receives and collectives of all
    ranks in program order, where a send ends when it is received. Ranks that
    differ only on axes without messages run one program in step, so one of them
    stands for all.
  }];
}

#endif // TESSERA_COMMUNICATE_PASSES_TD
