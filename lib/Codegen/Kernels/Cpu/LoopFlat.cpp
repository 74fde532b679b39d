//===- LoopFlat.cpp - elementwise kernels ---------------------------------===//
// One walk over [begin, end) elements, or over the elements of those rows.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

void LoopEmitter::emitFlat() {
  const Phase &phase = schedule.phases.front();
  OpBuilder &builder = uniform.builder;
  bool isPlane = llvm::any_of(kernel.results, [&](Value result) {
    return kernel.domainOf(result) == kBoth;
  });
  LaneRange range{begin, end, std::nullopt};
  if (isPlane) {
    Value cols = constantI64(builder, loc, kernel.cols);
    range.lo = arith::MulIOp::create(builder, loc, begin, cols);
    range.hi = arith::MulIOp::create(builder, loc, end, cols);
  }
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block) {
    uniform.builder.setInsertionPoint(block.enclosing);
    Scope lane(inside);
    // Both coordinates are the linear index.
    Position position{{&uniform, &lane, &lane, &lane},
                      block.start,
                      block.start,
                      block.lanes,
                      block.mask};
    emitStep(phase, position, {}, Value());
  };
  walkLanes(builder, range, unrollOf(phase), emitBlock);
  uniform.builder.setInsertionPoint(function.getBody().back().getTerminator());
}

} // namespace tessera
