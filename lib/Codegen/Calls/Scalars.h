//===- Scalars.h - integers that a program computes -------------*- C++ -*-===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_SCALARS_H
#define TESSERA_LIB_CODEGEN_CALLS_SCALARS_H

#include "lib/Codegen/Calls/StatusFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/TaskRuns.h"

namespace tessera {

/// Places where the frames of each micro-batch begin. Many begin at the same,
/// so a frame has a row of numbers of places, `period.stored()` of them.
struct FrameTable {
  struct Row {
    int64_t begin = 0; ///< Among the numbers.
    rt::Period period;
  };
  mlir::LLVM::GlobalOp offsets; ///< One for each place; null without frames.
  mlir::LLVM::GlobalOp numbers; ///< Places, all rows one after the other.
  llvm::SmallVector<Row> rows;  ///< Indexed by the number of the frame, from 0.
};

/// Code for the values of `rt` and `arith` ops in one function; each once.
class Scalars {
public:
  Scalars(StatusFunction &function, dist::MeshAttr mesh)
      : function(function), mesh(mesh) {}

  /// Says what a value is in the code: the counter of a loop.
  void set(mlir::Value value, mlir::Value code) { known.map(value, code); }
  /// The code runs for a micro-batch, whose frames lie where `table` says; it
  /// must outlive this.
  void setFrames(const FrameTable &table, mlir::Value microBatch);
  mlir::Value codeOf(mlir::Value value);
  mlir::Value codeOf(const CallArgument &argument);

private:
  mlir::Value streamKey(rt::StreamKeyOp op);
  mlir::Value mixed(mlir::Value x);
  mlir::Value frameBegin(int64_t number);
  mlir::Value placeInPeriod(rt::Period period);

  StatusFunction &function;
  dist::MeshAttr mesh;
  mlir::IRMapping known;
  const FrameTable *frameTable = nullptr;
  mlir::Value microBatch;
  llvm::DenseMap<int64_t, mlir::Value> frames;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_SCALARS_H
