//===- LaneWalk.h - loops over [lo, hi) by vectors --------------*- C++ -*-===//
// A walk takes blocks of `unroll` vectors, then single vectors, then a masked
// rest. Values are carried through it: `unroll` per carried quantity; a single
// vector and the rest update only the first.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOLLVM_LANEWALK_H
#define TESSERA_LIB_CONVERSION_KERNELTOLLVM_LANEWALK_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera {

struct LaneRange {
  mlir::Value lo, hi;
  /// hi - lo, where it is known at compile time.
  std::optional<int64_t> size;
};

/// A block of vectors: lane 0 of vector i is at `starts[i]`.
struct LaneBlock {
  llvm::SmallVector<mlir::Value> starts;
  mlir::Value mask;
  /// The loop or branch around the block; null if there is none.
  mlir::Operation *enclosing = nullptr;
};

using LaneBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &, const LaneBlock &, mlir::ValueRange carried)>;

class LaneWalk {
public:
  LaneWalk(mlir::Location loc, unsigned lanes, unsigned unroll, LaneBody body)
      : loc(loc), lanes(lanes), unroll(unroll), body(body) {}

  /// Returns the carried values after the walk. Ranges of unknown size carry
  /// nothing.
  llvm::SmallVector<mlir::Value> emit(mlir::OpBuilder &builder,
                                      const LaneRange &range,
                                      llvm::SmallVector<mlir::Value> carried);

private:
  void emitLoop(mlir::OpBuilder &builder, mlir::Value lo, mlir::Value hi,
                unsigned vectors);
  void emitStaticRest(mlir::OpBuilder &builder, mlir::Value lo, int64_t rest);
  void emitDynamicRest(mlir::OpBuilder &builder, const LaneRange &range,
                       mlir::Value lo);
  void runBlock(mlir::OpBuilder &builder, const LaneBlock &block);
  mlir::Value roundedEnd(mlir::OpBuilder &builder, const LaneRange &range,
                         int64_t step);

  mlir::Location loc;
  unsigned lanes, unroll;
  LaneBody body;
  llvm::SmallVector<mlir::Value> carried;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_KERNELTOLLVM_LANEWALK_H
