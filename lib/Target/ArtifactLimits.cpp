//===- ArtifactLimits.cpp - what is too large for an artifact -------------===//

#include "tessera/Target/ArtifactLimits.h"
#include "tessera/Options/MeshShape.h"
#include "tessera/abi.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

/// Backward and optimizer add some copies of every value.
static constexpr double kMostBytes = double(int64_t(1) << 58);
static constexpr StringLiteral kRemedy =
    "; use a shorter sequence, a smaller batch or a smaller model";

static double bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 0;
  double bytes = tensor.getElementTypeBitWidth() / 8.0;
  for (int64_t size : tensor.getShape())
    bytes *= static_cast<double>(size);
  return bytes;
}

static_assert(tessera::MeshShape::kMostRanks == TSR_LIMIT_RANKS,
              "a mesh has no more ranks than the runtime can run");

LogicalResult tessera::checkSizes(ModuleOp module) {
  double total = 0;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      total += bytesOf(value.getType());
    return total <= kMostBytes;
  };
  WalkResult walk = module.walk([&](Operation *op) {
    bool fits = add(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        fits &= add(block.getArguments());
    if (fits)
      return WalkResult::advance();
    op->emitError() << llvm::formatv("up to here the values of the program "
                                     "have {0:e1} bytes, at most {1:e1} can be "
                                     "planned{2}",
                                     total, kMostBytes, kRemedy)
                           .str();
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult tessera::checkArena(Operation *owner, int64_t bytes) {
  if (bytes >= 0 && bytes <= TSR_LIMIT_ARENA_BYTES)
    return success();
  return owner->emitError()
         << "a rank needs " << bytes << " bytes, an artifact has at most "
         << TSR_LIMIT_ARENA_BYTES << kRemedy << ", or more ranks";
}
