//===- Passes.td - when collectives and messages run -------*- tablegen -*-===//

#ifndef TESSERA_COMMUNICATE_PASSES_TD
#define TESSERA_COMMUNICATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def MergeCollectivesPass : Pass<"rt-merge-collectives", "::mlir::ModuleOp"> {
  let summary = "Sums over several axes at once, and of several tensors at once";
  let description = [{
    Before: `@step` of rt ops. After: an all-reduce of an all-reduce is one
    all-reduce over the axes of both. So is an all-gather of an all-gather, and
    a reduce-scatter of a reduce-scatter, along one dimension, if the axes that
    cut its inner slices come last in the mesh. All-reduces over the same axes whose
    results are not needed before the last of them are one all-reduce of a
    bucket: their tensors lie one after the other in memory (`rt.concat`). A
    bucket has at most `bucket-bytes`, and less if that is necessary to have
    `least-buckets` buckets.
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400",
           "Largest size of a bucket; 0 for no buckets">,
    Option<"leastBuckets", "least-buckets", "int64_t", "8",
           "Smallest number of buckets, at least 1">
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def BucketShardsPass : Pass<"rt-bucket-shards", "::mlir::ModuleOp"> {
  let summary = "Scatters gradients together, and gathers parameters together";
  let description = [{
    Before: `@step` of rt ops. After: reduce-scatters over the same axes whose
    results are not needed before the last of them are one
    `rt.reduce_scatter_coalesced`. Gathers of parameters over the same axes are
    one `rt.all_gather_coalesced` in the place of the first, with the kernels
    that round what they gather. Nothing is copied. A bucket has at most
    `bucket-bytes`, and less if that is necessary to have `least-buckets`
    buckets. In a large model it may have up to `large-bytes`, but at most one
    part in `large-share` of all that is scattered or gathered.
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400",
           "Largest size of a bucket; 0 for no buckets">,
    Option<"leastBuckets", "least-buckets", "int64_t", "32",
           "Smallest number of buckets, at least 1">,
    Option<"largeBytes", "large-bytes", "int64_t", "209715200",
           "Largest size of a bucket in a large model">,
    Option<"largeShare", "large-share", "int64_t", "64",
           "Such a bucket is at most this part of all, at least 1">
  ];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def OverlapCollectivesPass : Pass<"rt-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Starts collectives as soon as possible and waits late";
  let description = [{
    Before: `@step` of rt ops. After: some collectives are `async`: those for
    which there is work between the op that computes the last operand and the
    first op that needs the result. The collective starts right after the
    former, and its `rt.wait` stands right before the latter. If a message is
    sent in between, the collective starts after it, because another stage waits
    for the message. Nothing else moves, and collectives of ranks with different
    programs stay where they are.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def OverlapMessagesPass : Pass<"rt-overlap-messages", "::mlir::ModuleOp"> {
  let summary = "Messages between stages, or to owners, run beside the program";
  let description = [{
    Before: programs of rt ops with `rt.send` and `rt.receive`. After: all of
    these are `async`. A receive starts right after the message before it, but
    not before the task that reads the previous receive is next. It is waited
    for before its first use. A send is waited for before the tensor is
    overwritten and before the next send; other ops may read the tensor
    meanwhile. Messages keep their order. Messages that are tasks move in
    `rt.order`; the wait of a send becomes a task.
  }];
  let dependentDialects = ["::tessera::rt::RTDialect"];
}

def CheckMessagesPass : Pass<"rt-check-messages", "::mlir::ModuleOp"> {
  let summary = "Checks that no rank waits for ever";
  let description = [{
    Before: the lowered programs of all stages. After: unchanged; `rt.messages`
    counts what was checked. The pass runs the sends, receives and collectives
    of all ranks in program order, where a send ends only when it is received.
    Ranks that differ only on axes without messages run the same program in
    step, so one of them represents all.
  }];
}

#endif // TESSERA_COMMUNICATE_PASSES_TD
