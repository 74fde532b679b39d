//===- BucketShards.cpp - shards are moved together -----------------------===//
// One call scatters or gathers the members of a bucket, each from and to a
// buffer of its own: nothing is copied.
//===----------------------------------------------------------------------===//

#include "lib/Communicate/AsyncCalls.h"
#include "lib/Communicate/CollectiveBuckets.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"

namespace tessera {
#define GEN_PASS_DEF_BUCKETSHARDSPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Returns whether an op scatters sums or gathers parameters.
bool movesShards(Operation &op) {
  bool moves = isa<ReduceScatterOp>(op) ||
               (isa<AllGatherOp>(op) && mayStartEarlier(&op));
  return moves && !crossesPrograms(&op) &&
         !cast<AsyncOpInterface>(op).getAsync();
}

int64_t dimOf(Operation *op) {
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return gather.getDim();
  return cast<ReduceScatterOp>(op).getDim();
}

struct BucketShardsPass
    : tessera::impl::BucketShardsPassBase<BucketShardsPass> {
  using BucketShardsPassBase::BucketShardsPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    BucketLimits limits{bucketBytes, leastBuckets, largeBytes, largeShare};
    if (std::string why = checkLimits(limits); !why.empty()) {
      programs->front().emitError() << why;
      return signalPassFailure();
    }
    for (func::FuncOp step : *programs) {
      count = 0;
      SmallVector<Block *> blocks;
      step.walk([&](Block *block) { blocks.push_back(block); });
      for (Block *block : blocks)
        fillBuckets(*block, limits);
    }
  }

  void fillBuckets(Block &block, BucketLimits limits);
  void moveTogether(CollectiveBucket &bucket);

  int64_t count = 0; ///< The number of the program's buckets.
};

/// Returns the member before which the call stands, with the kernels that make
/// what they gather: the results of gathers may be read right after the first,
/// and only the last sum is there when the others are.
Operation *placeOf(CollectiveBucket &bucket) {
  Operation *first = bucket.members.front();
  if (isa<ReduceScatterOp>(first))
    return bucket.members.back();
  llvm::SmallPtrSet<Operation *, 16> kernels;
  for (Operation *member : bucket.members)
    kernels.insert(member->getOperand(0).getDefiningOp());
  auto between = llvm::make_range(first->getIterator(),
                                  bucket.members.back()->getIterator());
  for (Operation &op : llvm::make_early_inc_range(between))
    if (kernels.contains(&op))
      op.moveBefore(first);
  return first;
}

void BucketShardsPass::moveTogether(CollectiveBucket &bucket) {
  Operation *first = bucket.members.front();
  OpBuilder builder(placeOf(bucket));
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<int64_t> dims;
  for (Operation *member : bucket.members) {
    inputs.push_back(member->getOperand(0));
    types.push_back(member->getResult(0).getType());
    dims.push_back(dimOf(member));
  }
  Location loc = nameBucket(first, "bucket of shards", count++);
  auto axes = first->getAttrOfType<ArrayAttr>("axes");
  auto along = builder.getDenseI64ArrayAttr(dims);
  Operation *moved;
  if (isa<AllGatherOp>(first))
    moved = AllGatherCoalescedOp::create(builder, loc, types, inputs, axes,
                                         along, UnitAttr());
  else
    moved = ReduceScatterCoalescedOp::create(builder, loc, types, inputs, axes,
                                             along, UnitAttr());
  describeAs(moved, first);
  for (auto [member, result] : llvm::zip(bucket.members, moved->getResults()))
    replaceMember(member, result);
}

/// Forward and backward have buckets of their own, as gathers and sums do: each
/// has its share of the memory at another time.
void BucketShardsPass::fillBuckets(Block &block, BucketLimits limits) {
  using Key = std::pair<OperationName, nn::Phase>;
  auto keyOf = [](Operation &op) -> Key {
    return {op.getName(), nn::phaseOf(&op)};
  };
  llvm::SetVector<Key> keys;
  for (Operation &op : block)
    if (movesShards(op))
      keys.insert(keyOf(op));
  for (const Key &key : keys) {
    auto joins = [&](Operation &op) {
      return movesShards(op) && keyOf(op) == key;
    };
    for (CollectiveBucket &bucket : findBuckets(block, limits, joins))
      moveTogether(bucket);
  }
}

} // namespace
