//===- DescribeCall.h - what ops say of themselves in metadata --*- C++ -*-===//

#ifndef TESSERA_LIB_DIALECT_RT_DESCRIBECALL_H
#define TESSERA_LIB_DIALECT_RT_DESCRIBECALL_H

#include "mlir/IR/ValueRange.h"
#include "tessera/Program/ProgramCall.h"

namespace tessera::rt {

/// Returns the bytes of those values that are tensors.
int64_t bytesOfAll(mlir::ValueRange values);
/// Adds a tensor to what a collective or a message moves.
void addTransfer(program::Call &call, mlir::Value moved);
/// Describes attention, whose shape follows from its queries and keys.
void describeAttention(mlir::Operation *op, mlir::Value query, mlir::Value key,
                       program::Call &call);

} // namespace tessera::rt

#endif // TESSERA_LIB_DIALECT_RT_DESCRIBECALL_H
