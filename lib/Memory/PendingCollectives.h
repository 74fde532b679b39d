//===- PendingCollectives.h - memory that a collective still uses ---------===//
// For rt-check-memory: between its start and its rt.wait nothing may write what
// a collective reads, or touch what it writes.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_PENDINGCOLLECTIVES_H
#define TESSERA_LIB_MEMORY_PENDINGCOLLECTIVES_H

#include "lib/Memory/AbstractArena.h"
#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/MapVector.h"

namespace tessera::rt {

class PendingCollectives {
public:
  void start(AsyncOpInterface op, llvm::ArrayRef<ByteRange> reads,
             llvm::ArrayRef<ByteRange> writes);
  /// Each function emits an error and fails where the program is wrong.
  mlir::LogicalResult finish(WaitOp wait);
  mlir::LogicalResult checkRead(mlir::Operation *op, ByteRange bytes) const;
  mlir::LogicalResult checkWrite(mlir::Operation *op, ByteRange bytes) const;
  /// Checks at the end of a block that it has waited for all that it started.
  mlir::LogicalResult checkNoneIn(mlir::Block &block) const;

private:
  struct Ranges {
    llvm::SmallVector<ByteRange> reads, writes;
  };
  mlir::LogicalResult refuse(mlir::Operation *op, llvm::StringRef what,
                             ByteRange bytes, mlir::Operation *start) const;

  llvm::MapVector<mlir::Operation *, Ranges> started;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_PENDINGCOLLECTIVES_H
