//===- Dropout.h - a model without its dropout ------------------*- C++ -*-===//

#ifndef TESSERA_INFERENCE_DROPOUT_H
#define TESSERA_INFERENCE_DROPOUT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// Removes every `nn.dropout`, and the dropout of attention, from a serial
/// program.
void removeDropout(mlir::func::FuncOp program);

} // namespace tessera

#endif // TESSERA_INFERENCE_DROPOUT_H
