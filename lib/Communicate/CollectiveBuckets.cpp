//===- CollectiveBuckets.cpp - which collectives run as one ---------------===//

#include "lib/Communicate/CollectiveBuckets.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
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
  static Key keyOf(Operation &op);
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

Filling::Key Filling::keyOf(Operation &op) {
  Type type =
      isa<AllReduceOp>(op) ? getElementTypeOrSelf(op.getResult(0)) : Type();
  return {op.getName().getStringRef(), op.getAttr("axes"), type};
}

void Filling::add(Operation &op) {
  CollectiveBucket &bucket = open[keyOf(op)];
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
  int64_t bytes = 0;
  for (Value whole : cast<CollectiveOpInterface>(member).getWholes())
    bytes += bytesOf(whole);
  return bytes;
}

/// Returns the bytes that a large bucket may have, out of those of all
/// candidates.
static int64_t largeLimit(Block &block, BucketLimits limits,
                          llvm::function_ref<bool(Operation &)> mayJoin) {
  if (limits.largeBytes <= limits.bytes)
    return 0;
  int64_t all = 0;
  for (Operation &op : block)
    if (isa<CollectiveOpInterface>(op) && mayJoin(op))
      all += wholeBytesOf(&op);
  return std::min(limits.largeBytes, all / limits.share);
}

SmallVector<CollectiveBucket>
rt::findBuckets(Block &block, BucketLimits limits,
                llvm::function_ref<bool(Operation &)> mayJoin) {
  int64_t all = 0;
  for (const CollectiveBucket &bucket :
       Filling(limits.bytes, mayJoin).run(block))
    all += bucket.bytes;
  int64_t limit = std::max(std::min(limits.bytes, all / limits.leastBuckets),
                           largeLimit(block, limits, mayJoin));
  return Filling(limit, mayJoin).run(block);
}

std::string rt::checkLimits(BucketLimits limits) {
  if (limits.share < 1)
    return "cannot have large buckets of a " + std::to_string(limits.share) +
           "th of all; use at least 1";
  if (limits.bytes >= 0 && limits.leastBuckets >= 1)
    return "";
  return "cannot have " + std::to_string(limits.leastBuckets) + " buckets of " +
         std::to_string(limits.bytes) +
         " bytes; use at least 1, of at least 0 bytes";
}

void rt::replaceMember(Operation *member, OpResult value) {
  for (StringRef name :
       {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
    if (DictionaryAttr entry = getResultEntry(member->getResult(0), name))
      setResultEntry(value, name, entry);
  member->getResult(0).replaceAllUsesWith(value);
  member->erase();
}

NameLoc rt::nameBucket(Operation *member, StringRef what, int64_t number) {
  std::string name = (what + " " + Twine(number)).str();
  auto step = member->getParentOfType<func::FuncOp>();
  if (auto stage = step->getAttrOfType<IntegerAttr>(RTDialect::kStageAttr))
    name += " of stage " + std::to_string(stage.getInt());
  return NameLoc::get(StringAttr::get(member->getContext(), name),
                      member->getLoc());
}

void rt::describeAs(Operation *collective, Operation *member) {
  for (StringRef name :
       {StringRef(nn::NNDialect::kPhaseAttr), StringRef("reason")})
    if (Attribute attribute = member->getAttr(name))
      collective->setAttr(name, attribute);
}
