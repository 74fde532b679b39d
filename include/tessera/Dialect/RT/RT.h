//===- RT.h - the rt dialect ------------------------------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_RT_RT_H
#define TESSERA_DIALECT_RT_RT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tessera/Dialect/Dist/State.h"
#include "tessera/Dialect/Dist/Tensors.h"
#include "tessera/Dialect/NN/NNAttributes.h"
#include "tessera/Dialect/NN/NNInterfaces.h"
#include "tessera/Program/ProgramCall.h"

#include "tessera/Dialect/RT/RTDialect.h.inc"
#include "tessera/Dialect/RT/RTEnums.h.inc"

namespace tessera::rt {
/// Describes a call that says nothing more of itself: it reads its operands and
/// writes its results, or communicates if it is a collective.
void describeCall(mlir::Operation *op, program::Call &call);
/// Emits an error if anything but one rt.wait reads a pending result.
mlir::LogicalResult verifyAsync(mlir::Operation *op);
/// Returns whether a type is that of a pending send.
bool isToken(mlir::Type type);
} // namespace tessera::rt

#include "tessera/Dialect/RT/RTInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/RT/RTAttrs.h.inc"

#define GET_OP_CLASSES
#include "tessera/Dialect/RT/RTOps.h.inc"

namespace tessera::rt {

/// Buffers start at multiples of so many bytes.
inline constexpr int64_t kAlignment = 64;

/// Returns the bytes of one element of a tensor, and of all of its elements.
int64_t elementBytesOf(mlir::Value tensor);
int64_t bytesOf(mlir::Value tensor);

/// Returns where the memory plan put a tensor, in bytes from the arena's start;
/// nullopt before planning. For a view with an index it is the place of index
/// 0.
std::optional<int64_t> offsetOf(mlir::Value tensor);

/// Returns the op whose `rt.arena` is that of a program: the program where it
/// has a stage or stands beside another (nn::isBeside), else its module.
mlir::Operation *arenaOwner(mlir::Operation *program);

/// Returns the program's promise about a result (`rt.keep`, `rt.role`), or
/// null.
mlir::DictionaryAttr resultEntry(mlir::Value result, llvm::StringRef attribute);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_RT_H
