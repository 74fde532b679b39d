//===- NNInterfaces.h - backward, cost and precision of an op ---*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_NNINTERFACES_H
#define TESSERA_DIALECT_NN_NNINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "tessera/Dialect/NN/NNInterfaces.h.inc"

#endif // TESSERA_DIALECT_NN_NNINTERFACES_H
