//===- Widen.h - a program in f64 -------------------------------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_WIDEN_H
#define TESSERA_LIB_IMPORT_WIDEN_H

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Makes every floating-point element f64, in types and in attributes that are
/// types. Nothing is lost: each value of a narrower type is one of f64.
void widenToF64(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_WIDEN_H
