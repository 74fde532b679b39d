//===- CollectiveBuckets.h - which collectives run as one -------*- C++ -*-===//

#ifndef TESSERA_LIB_COMMUNICATE_COLLECTIVEBUCKETS_H
#define TESSERA_LIB_COMMUNICATE_COLLECTIVEBUCKETS_H

#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::rt {

/// Collectives of one kind over the same ranks that can run as one, in program
/// order.
struct CollectiveBucket {
  llvm::SmallVector<mlir::Operation *> members;
  int64_t bytes = 0; ///< Bytes of the whole tensors.
};

/// The bytes of what a member reduces, scatters or gathers.
int64_t wholeBytesOf(mlir::Operation *member);

/// The largest bucket such that even a small model has some: the first ones are
/// sent while the last ones are computed, and a bucket takes its memory from
/// its first part on. Where that is a `share`-th of all or less, a bucket may
/// have `largeBytes`.
struct BucketLimits {
  int64_t bytes = 0, leastBuckets = 1;
  int64_t largeBytes = 0, share = 1;
};

/// The buckets of two members or more in a block, of ops that `mayJoin`. No op
/// between the members of a bucket reads a result of theirs, except for that of
/// a gather: gathers of a bucket are made before all their readers. Members of
/// an all-reduce have one element type.
llvm::SmallVector<CollectiveBucket>
findBuckets(mlir::Block &block, BucketLimits limits,
            llvm::function_ref<bool(mlir::Operation &)> mayJoin);

/// Returns why limits make no sense; empty if they do.
std::string checkLimits(BucketLimits limits);

/// Replaces a member, with what the report and verify read of its result.
void replaceMember(mlir::Operation *member, mlir::OpResult value);

/// Returns "bucket 3", or "bucket 3 of stage 1" if a stage runs the member.
mlir::NameLoc nameBucket(mlir::Operation *member, llvm::StringRef what,
                         int64_t number);

/// Copies the phase and the reason of a member to the bucket's collective.
void describeAs(mlir::Operation *collective, mlir::Operation *member);

} // namespace tessera::rt

#endif // TESSERA_LIB_COMMUNICATE_COLLECTIVEBUCKETS_H
