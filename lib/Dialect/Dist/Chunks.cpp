//===- Chunks.cpp - chunks of the model on pipeline stages ----------------===//

#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/Dist/Dist.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

std::optional<int64_t> tessera::chunkOf(Operation *op) {
  auto chunk = op->getAttrOfType<IntegerAttr>(DistDialect::kChunkAttr);
  return chunk ? std::optional(chunk.getInt()) : std::nullopt;
}

void tessera::inheritChunk(Operation *op, Operation *from) {
  Attribute chunk = from ? from->getAttr(DistDialect::kChunkAttr) : nullptr;
  if (chunk && !chunkOf(op))
    op->setAttr(DistDialect::kChunkAttr, chunk);
}
