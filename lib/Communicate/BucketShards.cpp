//===- BucketShards.cpp - small shards are moved together -----------------===//
// A rank's chunk of a bucket must be contiguous, so the bucket is [ranks,
// elements] and its members are copied into columns of it. That pays for small
// ones, whose collectives take as long as their latency.
//===----------------------------------------------------------------------===//

#include "lib/Communicate/CollectiveBuckets.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Dialect/RT/RowLayout.h"

namespace tessera {
#define GEN_PASS_DEF_BUCKETSHARDSPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// A reduce-scatter or an all-gather of a bucket.
struct Member {
  explicit Member(Operation *op) : op(op) {
    Value whole = cast<CollectiveOpInterface>(op).getWhole();
    elements = sizeOf(isGather() ? input() : result());
    ranks = elements == 0 ? 0 : sizeOf(whole) / elements;
  }

  static int64_t sizeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  }
  Value input() const { return op->getOperand(0); }
  Value result() const { return op->getResult(0); }
  bool isGather() const { return isa<AllGatherOp>(op); }
  RankedTensorType typeOf(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, getElementTypeOrSelf(result()));
  }

  Operation *op;
  int64_t ranks = 1;
  int64_t elements = 0; ///< Of a rank's chunk.
};

int64_t dimOf(Operation *op) {
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return gather.getDim();
  return cast<ReduceScatterOp>(op).getDim();
}

/// Whether a value is an argument that is gathered once. Stage 3 of ZeRO
/// gathers parameters for each use, so that whole ones live shortly.
bool isGatheredOnce(Value value) {
  int64_t gathers = 0;
  for (Operation *user : value.getUsers()) {
    gathers += isa<AllGatherOp>(user);
    if (isa<LaunchOp>(user))
      gathers += llvm::count_if(user->getUsers(), llvm::IsaPred<AllGatherOp>);
  }
  return isa<BlockArgument>(value) && gathers == 1;
}

/// Whether a gather may be made earlier: of an argument, or of what a kernel
/// makes of arguments alone.
bool isMovable(Value shard) {
  auto launch = shard.getDefiningOp<LaunchOp>();
  return isGatheredOnce(shard) ||
         (launch && launch.getInputs().size() == launch->getNumOperands() &&
          llvm::all_of(launch.getInputs(), isGatheredOnce));
}

/// Whether an op scatters sums or gathers parameters.
bool movesShards(Operation &op) {
  return isa<ReduceScatterOp>(op) ||
         (isa<AllGatherOp>(op) && isMovable(op.getOperand(0)));
}

/// Whether an op that moves shards of at most `largest` bytes can be part of a
/// bucket: chunks are contiguous.
bool mayBeCopied(Operation &op, int64_t largest) {
  if (!movesShards(op) || crossesPrograms(&op) ||
      cast<AsyncOpInterface>(op).getAsync() || wholeBytesOf(&op) > largest)
    return false;
  Value whole = cast<CollectiveOpInterface>(op).getWhole();
  auto type = cast<RankedTensorType>(whole.getType());
  int64_t outer = 1;
  for (int64_t size : type.getShape().take_front(dimOf(&op)))
    outer *= size;
  bool isPadded = hasPaddedRows(op.getOperand(0).getType()) ||
                  hasPaddedRows(op.getResult(0).getType());
  return outer == 1 && !isPadded && Member(&op).elements > 0;
}

struct BucketShardsPass
    : tessera::impl::BucketShardsPassBase<BucketShardsPass> {
  using BucketShardsPassBase::BucketShardsPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    if (std::string why = checkLimits({bucketBytes, leastBuckets});
        !why.empty()) {
      programs->front().emitError() << why;
      return signalPassFailure();
    }
    SmallVector<Block *> blocks;
    for (func::FuncOp step : *programs)
      step.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      fillBuckets(*block);
  }

  int64_t largestMember(Block &block);
  void fillBuckets(Block &block);
  void scatterTogether(CollectiveBucket &bucket);
  Operation *gatherTogether(CollectiveBucket &bucket, Operation *place);
  Operation *moveTogether(OpBuilder &builder, CollectiveBucket &bucket,
                          ArrayRef<Value> parts, int64_t rows);

  int64_t count = 0; ///< Of buckets.
};

Value viewOf(OpBuilder &builder, const Member &member, Type type, Value source,
             int64_t offset) {
  return ViewOp::create(builder, member.op->getLoc(), type, source, Value(),
                        builder.getI64IntegerAttr(offset),
                        builder.getI64IntegerAttr(0));
}

Value copyOf(OpBuilder &builder, const Member &member, Value value) {
  auto copy =
      CopyOp::create(builder, member.op->getLoc(), value.getType(), value);
  nn::inheritPhase(copy, member.op);
  return copy;
}

/// The concatenation of the parts, [rows, elements], and its collective.
Operation *BucketShardsPass::moveTogether(OpBuilder &builder,
                                          CollectiveBucket &bucket,
                                          ArrayRef<Value> parts, int64_t rows) {
  Member first(bucket.members.front());
  SmallVector<int64_t> offsets;
  int64_t elements = 0;
  for (Operation *op : bucket.members) {
    offsets.push_back(elements);
    elements += Member(op).elements;
  }
  Location loc = NameLoc::get(
      builder.getStringAttr("bucket of shards " + std::to_string(count++)),
      first.op->getLoc());
  Value joined = ConcatOp::create(builder, loc, first.typeOf({rows, elements}),
                                  parts, builder.getDenseI64ArrayAttr(offsets));
  RankedTensorType type = first.typeOf({first.ranks / rows, elements});
  auto axes = first.op->getAttrOfType<ArrayAttr>("axes");
  IntegerAttr dim = builder.getI64IntegerAttr(0);
  Operation *op;
  if (first.isGather())
    op = AllGatherOp::create(builder, loc, type, joined, axes, dim);
  else
    op = ReduceScatterOp::create(builder, loc, type, joined, axes, dim);
  describeAs(op, first.op);
  return op;
}

/// reduce_scatter(a), reduce_scatter(b) -> views of reduce_scatter(concat(a,
/// b)), where rows of the concatenation are the ranks' chunks.
void BucketShardsPass::scatterTogether(CollectiveBucket &bucket) {
  OpBuilder builder(&getContext());
  SmallVector<Value> parts;
  for (Operation *op : bucket.members) {
    Member member(op);
    builder.setInsertionPoint(op);
    RankedTensorType type = member.typeOf({member.ranks, member.elements});
    parts.push_back(copyOf(builder, member,
                           viewOf(builder, member, type, member.input(), 0)));
  }
  Operation *sum = moveTogether(builder, bucket, parts,
                                Member(bucket.members.front()).ranks);
  int64_t offset = 0;
  for (Operation *op : bucket.members) {
    Member member(op);
    Value part = viewOf(builder, member, member.result().getType(),
                        sum->getResult(0), offset);
    // Kernels expect a buffer to begin at such a byte.
    if (offset * elementBytesOf(part) % kAlignment != 0)
      part = copyOf(builder, member, part);
    replaceMember(op, part);
    offset += member.elements;
  }
}

/// all_gather(a), all_gather(b) -> copies of columns of all_gather(concat(a,
/// b)), which stands before `place`. Returns the first of the columns.
Operation *BucketShardsPass::gatherTogether(CollectiveBucket &bucket,
                                            Operation *place) {
  OpBuilder builder(place);
  SmallVector<Value> parts;
  for (Operation *op : bucket.members) {
    Member member(op);
    Operation *made = member.input().getDefiningOp();
    if (made && made->getBlock() == place->getBlock() &&
        place->isBeforeInBlock(made))
      made->moveBefore(place);
    RankedTensorType type = member.typeOf({member.elements});
    parts.push_back(copyOf(builder, member,
                           viewOf(builder, member, type, member.input(), 0)));
  }
  Operation *whole = moveTogether(builder, bucket, parts, 1);
  Operation *first = nullptr;
  int64_t offset = 0;
  for (Operation *op : bucket.members) {
    Member member(op);
    builder.setInsertionPoint(op);
    RankedTensorType type = member.typeOf({member.ranks, member.elements});
    Value column = viewOf(builder, member, type, whole->getResult(0), offset);
    first = first ? first : column.getDefiningOp();
    replaceMember(op, viewOf(builder, member, member.result().getType(),
                             copyOf(builder, member, column), 0));
    offset += member.elements;
  }
  return first;
}

/// The largest member: a 64th of what a bucket of all shards would have. In
/// a small model, whose matrices are small too, copies of these would cost as
/// much memory as ZeRO saves.
int64_t BucketShardsPass::largestMember(Block &block) {
  int64_t all = 0;
  for (Operation &op : block)
    if (movesShards(op))
      all += wholeBytesOf(&op);
  int64_t bucket = std::min<int64_t>(bucketBytes, all / leastBuckets);
  return std::min<int64_t>(largestCopy, bucket / 64);
}

/// Parameters are gathered a bucket ahead of their use.
void BucketShardsPass::fillBuckets(Block &block) {
  int64_t largest = largestMember(block);
  auto joins = [&](Operation &op) { return mayBeCopied(op, largest); };
  Operation *last = nullptr;
  for (CollectiveBucket &bucket :
       findBuckets(block, {bucketBytes, leastBuckets}, joins)) {
    Operation *first = bucket.members.front();
    if (isa<AllGatherOp>(first))
      last = gatherTogether(
          bucket, last && last->isBeforeInBlock(first) ? last : first);
    else
      scatterTogether(bucket);
    for (Operation *op : bucket.members)
      op->erase();
  }
}

} // namespace
