//===- MergeCollectives.cpp - fewer, larger all-reduces -------------------===//

#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_MERGECOLLECTIVESPASS
#include "tessera/Communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Sums over the same ranks whose results are not needed yet.
struct Bucket {
  SmallVector<AllReduceOp> members;
  int64_t bytes = 0;
};

/// Parts of a bucket begin where kernels expect a buffer to begin. Ranks with
/// other programs would have other buckets.
bool mayJoin(AllReduceOp op, int64_t limit) {
  int64_t bytes = bytesOf(op.getInput());
  return !op.getMaximum() && !op.getAsync() && op.getInput().hasOneUse() &&
         !isa<BlockArgument>(op.getInput()) && bytes % kAlignment == 0 &&
         bytes < limit && !crossesPrograms(op);
}

/// Finds the buckets of a block.
class Filling {
public:
  explicit Filling(int64_t limit) : limit(limit) {}
  SmallVector<Bucket> run(Block &block);

private:
  void add(AllReduceOp op);
  void closeReadBy(Operation &op);
  void close(Bucket &bucket);

  using Key = std::pair<Attribute, Type>; ///< Axes and element type.
  llvm::MapVector<Key, Bucket> open;
  SmallVector<Bucket> closed;
  int64_t limit;
};

void Filling::close(Bucket &bucket) {
  if (bucket.members.size() > 1)
    closed.push_back(std::move(bucket));
  bucket = Bucket();
}

void Filling::add(AllReduceOp op) {
  Bucket &bucket = open[{op.getAxes(), op.getType().getElementType()}];
  int64_t bytes = bytesOf(op.getInput());
  if (bucket.bytes + bytes > limit)
    close(bucket);
  bucket.members.push_back(op);
  bucket.bytes += bytes;
}

/// Ends the buckets of the values that an op reads, which must be reduced
/// before it. A bucket is reduced in one task.
void Filling::closeReadBy(Operation &op) {
  for (auto &[key, bucket] : open) {
    bool reads =
        isTaskBorder(&op) ||
        llvm::any_of(bucket.members, [&](AllReduceOp member) {
          return llvm::any_of(member->getUsers(), [&](Operation *user) {
            return op.isAncestor(user);
          });
        });
    if (reads)
      close(bucket);
  }
}

SmallVector<Bucket> Filling::run(Block &block) {
  for (Operation &op : block) {
    closeReadBy(op);
    if (auto reduce = dyn_cast<AllReduceOp>(op);
        reduce && mayJoin(reduce, limit))
      add(reduce);
  }
  for (auto &[key, bucket] : open)
    close(bucket);
  return std::move(closed);
}

struct MergeCollectivesPass
    : tessera::impl::MergeCollectivesPassBase<MergeCollectivesPass> {
  using MergeCollectivesPassBase::MergeCollectivesPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> steps = findSteps(getOperation());
    if (failed(steps))
      return signalPassFailure();
    if (bucketBytes < 0 || leastBuckets < 1) {
      steps->front().emitError()
          << "cannot have " << leastBuckets.getValue() << " buckets of "
          << bucketBytes.getValue()
          << " bytes; use at least 1, of at least 0 bytes";
      return signalPassFailure();
    }
    SmallVector<Block *> blocks;
    for (func::FuncOp step : *steps) {
      step.walk([&](AllReduceOp op) { mergeAxes(op); });
      step.walk([&](Block *block) { blocks.push_back(block); });
    }
    for (Block *block : blocks)
      fillBuckets(*block);
  }

  void mergeAxes(AllReduceOp op);
  void fillBuckets(Block &block);
  void reduceTogether(Bucket &bucket);

  int64_t count = 0; ///< Of buckets.
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

/// add(all_reduce(a), all_reduce(b)) in one message: views of
/// all_reduce(concat(a, b)).
void MergeCollectivesPass::reduceTogether(Bucket &bucket) {
  AllReduceOp last = bucket.members.back();
  OpBuilder builder(last);
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  int64_t elements = 0;
  for (AllReduceOp member : bucket.members) {
    parts.push_back(member.getInput());
    offsets.push_back(elements);
    elements += cast<RankedTensorType>(member.getType()).getNumElements();
  }
  Location loc =
      NameLoc::get(builder.getStringAttr("bucket " + std::to_string(count++)),
                   last->getLoc());
  auto type =
      RankedTensorType::get({elements}, last.getType().getElementType());
  Value whole = ConcatOp::create(builder, loc, type, parts,
                                 builder.getDenseI64ArrayAttr(offsets));
  auto sum = AllReduceOp::create(builder, loc, type, whole, last.getAxesAttr(),
                                 last.getMaximumAttr());
  for (StringRef name :
       {StringRef(nn::NNDialect::kPhaseAttr), StringRef("reason")})
    if (Attribute attribute = bucket.members.front()->getAttr(name))
      sum->setAttr(name, attribute);
  for (auto [member, offset] : llvm::zip(bucket.members, offsets)) {
    auto view = ViewOp::create(
        builder, member.getLoc(), member.getType(), sum.getResult(), Value(),
        builder.getI64IntegerAttr(offset), builder.getI64IntegerAttr(0));
    for (StringRef name :
         {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
      if (Attribute entries = member->getAttr(name))
        view->setAttr(name, entries);
    member.replaceAllUsesWith(view.getResult());
  }
  for (AllReduceOp member : bucket.members)
    member.erase();
}

/// Even a small model has a few buckets: the first ones are sent while the last
/// ones are computed, and a bucket takes its memory from its first part on.
void MergeCollectivesPass::fillBuckets(Block &block) {
  int64_t all = 0;
  for (const Bucket &bucket : Filling(bucketBytes).run(block))
    all += bucket.bytes;
  int64_t limit = std::min<int64_t>(bucketBytes, all / leastBuckets);
  for (Bucket &bucket : Filling(limit).run(block))
    reduceTogether(bucket);
}

} // namespace
