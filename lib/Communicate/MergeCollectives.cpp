//===- MergeCollectives.cpp - fewer, larger collectives -------------------===//

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
      step.walk([&](AllGatherOp op) { mergeSlices(op, Inner::Operand); });
      step.walk([&](ReduceScatterOp op) { mergeSlices(op, Inner::Result); });
      fillBuckets(step, limits);
    }
  }

  /// Tells which of two collectives has the inner slices.
  enum class Inner { Operand, Result };

  void mergeAxes(AllReduceOp op);
  template <typename Op> void mergeSlices(Op op, Inner inner);
  void fillBuckets(func::FuncOp step, BucketLimits limits);
  void reduceTogether(CollectiveBucket &bucket);

  int64_t count = 0; ///< The number of the program's buckets.
};

/// Returns whether a collective's operand is another's result, which nothing
/// else reads.
template <typename Op> bool follows(Op op, Op first) {
  return first && first->hasOneUse() && !crossesPrograms(op) &&
         !crossesPrograms(first) && !op.getAsync() && !first.getAsync() &&
         !resultEntry(first.getResult(), RTDialect::kKeepAttr) &&
         first->getBlock() == op->getBlock();
}

/// Makes one collective over the axes of both.
template <typename Op> void mergeInto(Op op, Op first) {
  SmallVector<Attribute> axes(first.getAxes().getValue());
  llvm::append_range(axes, op.getAxes());
  llvm::sort(axes, [](Attribute a, Attribute b) {
    return cast<StringAttr>(a).getValue() < cast<StringAttr>(b).getValue();
  });
  op.setAxesAttr(ArrayAttr::get(op.getContext(), axes));
  op.getInputMutable().assign(first.getInput());
  first.erase();
}

/// all_reduce(all_reduce(x, a), b) -> all_reduce(x, a + b): n elements once
/// instead of twice.
void MergeCollectivesPass::mergeAxes(AllReduceOp op) {
  auto first = op.getInput().getDefiningOp<AllReduceOp>();
  if (!follows(op, first) || first.getMaximum() != op.getMaximum())
    return;
  bool isSumOfCopies = llvm::any_of(op.getAxes(), [&](Attribute axis) {
    return llvm::is_contained(first.getAxes(), axis);
  });
  if (!isSumOfCopies)
    mergeInto(op, first);
}

/// all_gather(all_gather(x, b), a) -> all_gather(x, a + b), and
/// reduce_scatter(reduce_scatter(x, a), b) -> reduce_scatter(x, a + b), along
/// one dimension: as many bytes in one call. The slices of b are inside those
/// of a, as are its ranks: the axes of a come first in the mesh.
template <typename Op>
void MergeCollectivesPass::mergeSlices(Op op, Inner inner) {
  auto first = op.getInput().template getDefiningOp<Op>();
  dist::MeshAttr mesh = dist::meshOf(op);
  if (!mesh || !follows(op, first) || first.getDim() != op.getDim())
    return;
  auto placeOf = [&](Attribute axis) {
    return llvm::find(mesh.getAxes(), axis) - mesh.getAxes().begin();
  };
  Op outside = inner == Inner::Operand ? op : first;
  Op inside = inner == Inner::Operand ? first : op;
  for (Attribute a : outside.getAxes())
    for (Attribute b : inside.getAxes())
      if (placeOf(a) >= placeOf(b))
        return;
  mergeInto(op, first);
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
