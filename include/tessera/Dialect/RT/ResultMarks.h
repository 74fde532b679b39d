//===- ResultMarks.h - what report and verify read --------------*- C++ -*-===//
// An op that replaces another carries its marks: its phase, the roles of its
// results (`rt.role`) and which of them verify keeps (`rt.keep`). Both array
// attributes hold a dictionary per result.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RESULTMARKS_H
#define TESSERA_DIALECT_RT_RESULTMARKS_H

#include "tessera/Dialect/NN/Marks.h"

namespace tessera {

/// Copies all marks to an op with the same results.
void inheritMarks(mlir::Operation *to, mlir::Operation *from);

/// Copies the phase alone, to an op that makes something on the way.
using nn::inheritPhase;

/// Returns the entry of a result in an array attribute of its op; null if there
/// is none, empty if the entry says nothing.
mlir::DictionaryAttr getResultEntry(mlir::OpResult result,
                                    llvm::StringRef name);
void setResultEntry(mlir::OpResult result, llvm::StringRef name,
                    mlir::DictionaryAttr entry);

} // namespace tessera

#endif // TESSERA_DIALECT_RT_RESULTMARKS_H
