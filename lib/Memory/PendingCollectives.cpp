//===- PendingCollectives.cpp - memory that a collective still uses -------===//

#include "lib/Memory/PendingCollectives.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static bool meetsAny(ArrayRef<ByteRange> ranges, ByteRange bytes) {
  return llvm::any_of(ranges, [&](ByteRange r) { return r.overlaps(bytes); });
}

void PendingCollectives::start(AsyncOpInterface op, ArrayRef<ByteRange> reads,
                               ArrayRef<ByteRange> writes) {
  started[op] = {llvm::to_vector(reads), llvm::to_vector(writes)};
}

LogicalResult PendingCollectives::finish(WaitOp wait) {
  if (started.erase(wait.getPending().front().getDefiningOp()) == 0)
    return wait.emitError() << "waits for what is not pending";
  return success();
}

LogicalResult PendingCollectives::refuse(Operation *op, StringRef what,
                                         ByteRange bytes,
                                         Operation *start) const {
  InFlightDiagnostic error =
      op->emitError() << what << " bytes " << bytes.str()
                      << ", which a pending collective uses; rt.wait for it "
                         "first";
  error.attachNote(start->getLoc()) << "it is started here";
  return error;
}

LogicalResult PendingCollectives::checkRead(Operation *op,
                                            ByteRange bytes) const {
  for (auto &[start, ranges] : started)
    if (meetsAny(ranges.writes, bytes))
      return refuse(op, "reads", bytes, start);
  return success();
}

LogicalResult PendingCollectives::checkWrite(Operation *op,
                                             ByteRange bytes) const {
  for (auto &[start, ranges] : started)
    if (meetsAny(ranges.writes, bytes) || meetsAny(ranges.reads, bytes))
      return refuse(op, "writes", bytes, start);
  return success();
}

LogicalResult PendingCollectives::checkNoneIn(Block &block) const {
  for (auto &[start, ranges] : started)
    if (start->getBlock() == &block)
      return start->emitError()
             << "is started, but nothing waits for it before its block ends";
  return success();
}
