//===- CollectiveBuckets.cpp - which collectives run as one ---------------===//

#include "lib/Communicate/CollectiveBuckets.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Finds the buckets of a block.
class Filling {
public:
  Filling(int64_t limit, llvm::function_ref<bool(Operation &)> mayJoin)
      : limit(limit), mayJoin(mayJoin) {}
  SmallVector<CollectiveBucket> run(Block &block);

private:
  void add(Operation &op);
  void closeReadBy(Operation &op);
  void close(CollectiveBucket &bucket);

  using Key = std::tuple<StringRef, Attribute, Type>; ///< Op, axes, type.
  llvm::MapVector<Key, CollectiveBucket> open;
  SmallVector<CollectiveBucket> closed;
  int64_t limit;
  llvm::function_ref<bool(Operation &)> mayJoin;
};

void Filling::close(CollectiveBucket &bucket) {
  if (bucket.members.size() > 1)
    closed.push_back(std::move(bucket));
  bucket = CollectiveBucket();
}

void Filling::add(Operation &op) {
  CollectiveBucket &bucket =
      open[{op.getName().getStringRef(), op.getAttr("axes"),
            getElementTypeOrSelf(op.getResult(0))}];
  int64_t bytes = wholeBytesOf(&op);
  if (bucket.bytes + bytes > limit)
    close(bucket);
  bucket.members.push_back(&op);
  bucket.bytes += bytes;
}

/// Ends the buckets of the values that an op reads, which must be reduced
/// before it. A bucket is one task's.
void Filling::closeReadBy(Operation &op) {
  auto isRead = [&](Operation *member) {
    return !isa<AllGatherOp>(member) &&
           llvm::any_of(member->getUsers(),
                        [&](Operation *user) { return op.isAncestor(user); });
  };
  for (auto &[key, bucket] : open)
    if (isTaskBorder(&op) || llvm::any_of(bucket.members, isRead))
      close(bucket);
}

SmallVector<CollectiveBucket> Filling::run(Block &block) {
  for (Operation &op : block) {
    closeReadBy(op);
    if (isa<CollectiveOpInterface>(op) && mayJoin(op) &&
        wholeBytesOf(&op) < limit)
      add(op);
  }
  for (auto &[key, bucket] : open)
    close(bucket);
  return std::move(closed);
}

} // namespace

int64_t rt::wholeBytesOf(Operation *member) {
  return bytesOf(cast<CollectiveOpInterface>(member).getWhole());
}

SmallVector<CollectiveBucket>
rt::findBuckets(Block &block, BucketLimits limits,
                llvm::function_ref<bool(Operation &)> mayJoin) {
  int64_t all = 0;
  for (const CollectiveBucket &bucket :
       Filling(limits.bytes, mayJoin).run(block))
    all += bucket.bytes;
  int64_t limit = std::min<int64_t>(limits.bytes, all / limits.leastBuckets);
  return Filling(limit, mayJoin).run(block);
}

std::string rt::checkLimits(BucketLimits limits) {
  if (limits.bytes >= 0 && limits.leastBuckets >= 1)
    return "";
  return "cannot have " + std::to_string(limits.leastBuckets) + " buckets of " +
         std::to_string(limits.bytes) +
         " bytes; use at least 1, of at least 0 bytes";
}

void rt::replaceMember(Operation *member, Value value) {
  for (StringRef name :
       {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
    if (Attribute entries = member->getAttr(name))
      value.getDefiningOp()->setAttr(name, entries);
  member->getResult(0).replaceAllUsesWith(value);
}

void rt::describeAs(Operation *collective, Operation *member) {
  for (StringRef name :
       {StringRef(nn::NNDialect::kPhaseAttr), StringRef("reason")})
    if (Attribute attribute = member->getAttr(name))
      collective->setAttr(name, attribute);
}
