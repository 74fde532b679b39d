//===- Formulas.h - what ops compute, of simpler ops ------------*- C++ -*-===//
// It builds products, sums and maps, which share nothing with the kernels of
// the ops under test. Positions and heads are numbers of tables, and comparing
// these makes the masks.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MODEL_FORMULAS_H
#define TESSERA_LIB_MODEL_FORMULAS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include <map>

namespace tessera {

class Formulas {
public:
  explicit Formulas(mlir::func::FuncOp func);

  /// The next ops come before `op`, and are of its part of the model, with
  /// elements of `element`.
  void begin(mlir::Operation *op, mlir::Type element);

  mlir::Value product(const llvm::Twine &spec, mlir::ValueRange inputs,
                      double scale = 1);
  /// All coefficients are 1 if none are given.
  mlir::Value sum(const llvm::Twine &spec, mlir::ValueRange inputs,
                  llvm::ArrayRef<double> coefs = {});
  mlir::Value map(nn::Function function, mlir::Value input);
  mlir::Value constant(double value);
  /// scale * x + offset, elementwise.
  mlir::Value scaled(mlir::Value x, double scale, double offset = 0);
  /// Returns the product of two tensors of one shape.
  mlir::Value times(mlir::Value x, mlir::Value y);
  mlir::Value cast(mlir::Value x, mlir::Type element);

  /// Returns 0, 1, 2, .. as a tensor [size].
  mlir::Value count(int64_t size);
  /// Returns a tensor of the letters: the sum of the letter's index times its
  /// weight, over all letters.
  mlir::Value indices(llvm::StringRef letters, llvm::ArrayRef<int64_t> sizes,
                      llvm::ArrayRef<double> weights);
  /// x[rows] - y[columns] as a tensor [rows.., columns..].
  mlir::Value difference(llvm::StringRef rows, mlir::Value x,
                         llvm::StringRef columns, mlir::Value y);
  /// Compare whole numbers: the result is 1 where x is 0, at least `least` or
  /// below `bound`, and 0 elsewhere.
  mlir::Value isZero(mlir::Value x);
  mlir::Value isAtLeast(mlir::Value x, double least);
  mlir::Value isBelow(mlir::Value x, double bound);

  template <typename OpTy, typename... Args> mlir::Value emit(Args &&...args) {
    auto op = nn::create<OpTy>(builder, loc, std::forward<Args>(args)...);
    mark(op);
    return op->getResult(0);
  }

  mlir::OpBuilder builder;

private:
  void mark(mlir::Operation *op);
  mlir::Value table(int64_t size);

  mlir::func::FuncOp func;
  mlir::Location loc;
  mlir::Type element;
  std::map<std::pair<int64_t, const void *>, mlir::Value> counts;
};

inline int64_t sizeAt(mlir::Value value, unsigned dim) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getDimSize(dim);
}

} // namespace tessera

#endif // TESSERA_LIB_MODEL_FORMULAS_H
