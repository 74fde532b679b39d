//===- Marks.h - what the report and verify read off an op ------*- C++ -*-===//
// The op that replaces another carries the marks of it: its phase, the roles of
// its results and which of them verify keeps.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PARTITION_MARKS_H
#define TESSERA_PARTITION_MARKS_H

#include "tessera/Dialect/NN/Phase.h"

namespace tessera {

/// All marks, of an op with the same results.
void inheritMarks(mlir::Operation *to, mlir::Operation *from);

/// The phase alone, of an op that makes something on the way.
using nn::inheritPhase;

} // namespace tessera

#endif // TESSERA_PARTITION_MARKS_H
