//===- OrderSums.h - sums of gradients without their order ------*- C++ -*-===//
// Stages that share a value each add up the gradients of their uses, then the
// stages' sums are added. The serial program adds one use after the other.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_DISTRIBUTE_ORDERSUMS_H
#define TESSERA_LIB_DISTRIBUTE_ORDERSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// add(add(a, b), c), add(a, add(b, c)), ... of gradients -> add(a, b, c),
/// terms in the order in which they are made, as soon as all are.
void orderSums(mlir::func::FuncOp func);

} // namespace tessera

#endif // TESSERA_LIB_DISTRIBUTE_ORDERSUMS_H
