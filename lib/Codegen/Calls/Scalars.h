//===- Scalars.h - integers that a program computes -------------*- C++ -*-===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_SCALARS_H
#define TESSERA_LIB_CODEGEN_CALLS_SCALARS_H

#include "lib/Codegen/Calls/RuntimeCall.h"
#include "lib/Codegen/Calls/StatusFunction.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {

/// Code for the values of `rt` and `arith` ops in one function; each once.
class Scalars {
public:
  Scalars(StatusFunction &function, dist::MeshAttr mesh)
      : function(function), mesh(mesh) {}

  /// What a value is in the code: the counter of a loop.
  void set(mlir::Value value, mlir::Value code) { known.map(value, code); }
  /// The code runs for a micro-batch. `table` has a row of `columns` offsets
  /// for each frame, one for each micro-batch.
  void setFrames(mlir::Value table, mlir::Value microBatch, int64_t columns);
  mlir::Value codeOf(mlir::Value value);
  mlir::Value codeOf(const CallArgument &argument);

private:
  mlir::Value streamKey(rt::StreamKeyOp op);
  mlir::Value mixed(mlir::Value x);
  mlir::Value frameBegin(int64_t number);

  StatusFunction &function;
  dist::MeshAttr mesh;
  mlir::IRMapping known;
  mlir::Value frameTable, frameColumn;
  int64_t frameColumns = 0;
  llvm::DenseMap<int64_t, mlir::Value> frames;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_SCALARS_H
