//===- RT.h - the rt dialect ----------------------------------------------===//

#ifndef TESSERA_DIALECT_RT_RT_H
#define TESSERA_DIALECT_RT_RT_H

#include "tessera/Dialect/NN/NNInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tessera/Dialect/RT/RTDialect.h.inc"

#define GET_OP_CLASSES
#include "tessera/Dialect/RT/RTOps.h.inc"

#endif // TESSERA_DIALECT_RT_RT_H
