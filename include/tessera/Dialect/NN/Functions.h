//===- Functions.h - the functions of nn.map --------------------*- C++ -*-===//
// The table in Functions.cpp holds all that the compiler knows of a function:
// passes ask it for a property and never for a name.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_FUNCTIONS_H
#define TESSERA_DIALECT_NN_FUNCTIONS_H

#include "mlir/IR/Builders.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera::nn {

/// Builds arithmetic on scalars of one float type.
struct ScalarMath {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(mlir::Value like, double value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, double y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(double x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, double y) const;
  mlir::Value div(mlir::Value x, mlir::Value y) const;
  mlir::Value div(double x, mlir::Value y) const;
};

/// A row of the table.
struct FunctionInfo {
  enum Property : unsigned {
    /// Computing f costs more than storing and loading it on a CPU.
    IsCostly = 1,
    /// The op needs the attribute `bound`.
    TakesBound = 2,
    /// f' = f, so that backward reads the result, which is at hand anyway.
    IsOwnDerivative = 4,
    /// f' jumps: it is 0 up to x = 0 and 1 above.
    HasStepDerivative = 8,
  };

  Function function;
  /// Builds f(x); `bound` is 0 for a function that takes none.
  mlir::Value (*formula)(const ScalarMath &math, mlir::Value x, double bound);
  /// Builds f'(x). Null: the function is used after differentiation only.
  mlir::Value (*derivative)(const ScalarMath &math, mlir::Value x);
  /// The letters to which f and f' map Z, N and F in padding; X for a function
  /// without a derivative.
  llvm::StringLiteral padding, slopePadding;
  unsigned properties;

  bool has(Property property) const { return properties & property; }
};

const FunctionInfo &infoOf(Function function);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_FUNCTIONS_H
