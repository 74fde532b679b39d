//===- MemoryRules.h - what the memory passes agree on --------------------===//

#ifndef TESSERA_TRANSFORMS_MEMORYRULES_H
#define TESSERA_TRANSFORMS_MEMORYRULES_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Dialect/RT/Step.h"
#include "tessera/Transforms/Buffers.h"

namespace tessera::rt {

/// What the code generator says of its kernels.
ShareRule kernelShareRule();

/// Emits the error that a conflict is where it cannot be resolved.
void reportConflict(const Conflict &conflict);

} // namespace tessera::rt

#endif // TESSERA_TRANSFORMS_MEMORYRULES_H
