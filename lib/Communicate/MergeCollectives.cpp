//===- MergeCollectives.cpp - fewer, larger all-reduces -------------------===//

#include "lib/Communicate/CollectiveBuckets.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"

namespace tessera {
#define GEN_PASS_DEF_MERGECOLLECTIVESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Parts of a bucket begin where kernels expect a buffer to begin. Ranks with
/// other programs would have other buckets.
bool mayJoin(Operation &candidate) {
  auto op = dyn_cast<AllReduceOp>(candidate);
  return op && !op.getMaximum() && !op.getAsync() &&
         op.getInput().hasOneUse() && !isa<BlockArgument>(op.getInput()) &&
         bytesOf(op.getInput()) % kAlignment == 0 && !crossesPrograms(op);
}

struct MergeCollectivesPass
    : tessera::impl::MergeCollectivesPassBase<MergeCollectivesPass> {
  using MergeCollectivesPassBase::MergeCollectivesPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    BucketLimits limits = {bucketBytes, leastBuckets};
    if (std::string why = checkLimits(limits); !why.empty()) {
      programs->front().emitError() << why;
      return signalPassFailure();
    }
    for (func::FuncOp step : *programs) {
      step.walk([&](AllReduceOp op) { mergeAxes(op); });
      fillBuckets(step, limits);
    }
  }

  void mergeAxes(AllReduceOp op);
  void fillBuckets(func::FuncOp step, BucketLimits limits);
  void reduceTogether(CollectiveBucket &bucket);

  int64_t count = 0; ///< The number of the program's buckets.
};

/// all_reduce(all_reduce(x, a), b) -> all_reduce(x, a + b): n elements once
/// instead of twice.
void MergeCollectivesPass::mergeAxes(AllReduceOp op) {
  auto inner = op.getInput().getDefiningOp<AllReduceOp>();
  bool alike = inner && inner->hasOneUse() && !crossesPrograms(op) &&
               !crossesPrograms(inner) &&
               inner.getMaximum() == op.getMaximum() &&
               !resultEntry(inner.getResult(), RTDialect::kKeepAttr) &&
               inner->getBlock() == op->getBlock();
  if (!alike)
    return;
  SmallVector<Attribute> axes(inner.getAxes().getValue());
  for (Attribute axis : op.getAxes()) {
    if (llvm::is_contained(axes, axis))
      return; // A sum of equal copies.
    axes.push_back(axis);
  }
  llvm::sort(axes, [](Attribute a, Attribute b) {
    return cast<StringAttr>(a).getValue() < cast<StringAttr>(b).getValue();
  });
  op.setAxesAttr(ArrayAttr::get(op.getContext(), axes));
  op.getInputMutable().assign(inner.getInput());
  inner.erase();
}

void MergeCollectivesPass::fillBuckets(func::FuncOp step, BucketLimits limits) {
  count = 0;
  SmallVector<Block *> blocks;
  step.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    for (CollectiveBucket &bucket : findBuckets(*block, limits, mayJoin))
      reduceTogether(bucket);
}

/// add(all_reduce(a), all_reduce(b)) in one message: views of
/// all_reduce(concat(a, b)).
void MergeCollectivesPass::reduceTogether(CollectiveBucket &bucket) {
  auto last = cast<AllReduceOp>(bucket.members.back());
  OpBuilder builder(last);
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  int64_t elements = 0;
  for (Operation *member : bucket.members) {
    parts.push_back(member->getOperand(0));
    offsets.push_back(elements);
    elements += cast<RankedTensorType>(parts.back().getType()).getNumElements();
  }
  Location loc = nameBucket(last, "bucket", count++);
  auto type =
      RankedTensorType::get({elements}, last.getType().getElementType());
  Value whole = ConcatOp::create(builder, loc, type, parts,
                                 builder.getDenseI64ArrayAttr(offsets));
  auto sum = AllReduceOp::create(builder, loc, type, whole, last.getAxesAttr(),
                                 last.getMaximumAttr());
  describeAs(sum, bucket.members.front());
  for (auto [member, offset] : llvm::zip(bucket.members, offsets))
    replaceMember(member, ViewOp::create(builder, member->getLoc(),
                                         member->getResult(0).getType(),
                                         sum.getResult(), Value(),
                                         builder.getI64IntegerAttr(offset),
                                         builder.getI64IntegerAttr(0))
                              ->getResult(0));
}

} // namespace
