//===- Sum.h - totals of two ------------------------------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_SUM_H
#define TESSERA_DIALECT_NN_SUM_H

#include "mlir/IR/Builders.h"

namespace tessera::nn {

/// a + b, an `nn.add` of two values of one type.
mlir::Value sumOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                  mlir::Value b);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_SUM_H
