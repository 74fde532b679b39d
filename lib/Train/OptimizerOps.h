//===- OptimizerOps.h - ops of the optimizer --------------------*- C++ -*-===//
// Appends ops to a program and places each: their operands say where they run,
// there are no anchors. An op that cannot be placed has said so, and the
// builder remembers it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TRAIN_OPTIMIZEROPS_H
#define TESSERA_LIB_TRAIN_OPTIMIZEROPS_H

#include "lib/Distribute/Placement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

class OptimizerOps {
public:
  explicit OptimizerOps(mlir::func::FuncOp func);

  /// Names the part of the model that the next ops belong to, for reports and
  /// errors.
  void enter(llvm::StringRef part, mlir::Location file);
  bool failedToPlace() const { return hasFailed; }

  mlir::Value product(const llvm::Twine &spec, mlir::ValueRange inputs,
                      double scale = 1);
  /// Adds the inputs, times their coefficients, which are all 1 if there are
  /// none.
  mlir::Value sum(const llvm::Twine &spec, mlir::ValueRange inputs,
                  llvm::ArrayRef<double> coefs = {});
  mlir::Value map(nn::Function function, mlir::Value input);
  mlir::Value map(nn::Function function, mlir::Value input, double bound);
  template <typename OpTy, typename... Args> mlir::Value emit(Args &&...args) {
    auto op =
        nn::createUntyped<OpTy>(builder, loc, 1, std::forward<Args>(args)...);
    hasFailed |= failed(place.place(op));
    return op.getOutput();
  }

  /// Computes factor * x for a scalar and a tensor.
  mlir::Value scaled(mlir::Value factor, mlir::Value x, double scale = 1);
  /// Returns the sum of tensors of one shape.
  mlir::Value combined(mlir::ValueRange terms, llvm::ArrayRef<double> coefs);

  mlir::Value toInvariant(mlir::Value value);
  /// Adds partial sums, and leaves all other states.
  mlir::Value reduced(mlir::Value value);
  /// Converts to the states of another value.
  mlir::Value toStatesOf(mlir::Value value, mlir::Value other);

  mlir::OpBuilder builder;

private:
  mlir::Location loc;
  dist::MeshAttr mesh;
  Placement place;
  bool hasFailed = false;
};

} // namespace tessera

#endif // TESSERA_LIB_TRAIN_OPTIMIZEROPS_H
