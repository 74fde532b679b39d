//===- LaneWalk.h - loops over [lo, hi) by vectors --------------*- C++ -*-===//
// A walk takes wide vectors (several registers each: independent work that
// hides latency), then single registers, then a masked rest. What it carries
// is narrowed once, between the first two.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_LANEWALK_H
#define TESSERA_LIB_CODEGEN_KERNELS_LANEWALK_H

#include "lib/Codegen/Kernels/KernelEmitter.h"

namespace tessera {

struct LaneRange {
  mlir::Value lo, hi;
  /// hi - lo, where it is known at compile time.
  std::optional<int64_t> size;
};

/// One vector: lane i is at `start + i`.
struct LaneBlock {
  mlir::Value start;
  unsigned lanes = 0;
  mlir::Value mask;
  /// The loop or branch around the block; null if there is none.
  mlir::Operation *enclosing = nullptr;
};

struct LaneHooks {
  /// Emits a block; returns what is carried after it.
  llvm::function_ref<LaneValues(mlir::OpBuilder &, const LaneBlock &,
                                mlir::ValueRange carried)>
      body;
  /// Returns the values that are carried into the walk, in vectors of so many
  /// lanes.
  llvm::function_ref<LaneValues(mlir::OpBuilder &, unsigned lanes)> initial;
  /// Wide carried values as single registers.
  llvm::function_ref<LaneValues(mlir::OpBuilder &, mlir::ValueRange wide)>
      narrow;
};

class LaneWalk {
public:
  LaneWalk(mlir::Location loc, unsigned lanes, unsigned unroll, LaneHooks hooks)
      : loc(loc), lanes(lanes), wideLanes(lanes * unroll), hooks(hooks) {}

  /// Returns the carried values after the walk. Ranges of unknown size carry
  /// nothing.
  LaneValues emit(mlir::OpBuilder &builder, const LaneRange &range);

private:
  void emitLoop(mlir::OpBuilder &builder, mlir::Value lo, mlir::Value hi,
                unsigned step);
  void emitStaticRest(mlir::OpBuilder &builder, mlir::Value lo, int64_t rest);
  void emitDynamicRest(mlir::OpBuilder &builder, const LaneRange &range,
                       mlir::Value lo);
  mlir::Value roundedEnd(mlir::OpBuilder &builder, const LaneRange &range,
                         int64_t step);

  mlir::Location loc;
  unsigned lanes, wideLanes;
  LaneHooks hooks;
  LaneValues carried;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_LANEWALK_H
