//===- AsyncCalls.h - the uses and the wait of an asynchronous call -------===//

#ifndef TESSERA_LIB_COMMUNICATE_ASYNCCALLS_H
#define TESSERA_LIB_COMMUNICATE_ASYNCCALLS_H

#include "tessera/Dialect/RT/OpOrder.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera::rt {

/// Names of memory, no work: they move along with what they name.
bool isAlias(mlir::Operation *op);

/// Returns whether an op computes, itself or in its regions: what a call runs
/// beside.
bool isWork(mlir::Operation &op);

/// Returns the first op of the block that needs the elements of what `op`
/// makes, through views and joins; null if there is none.
mlir::Operation *firstUse(mlir::Block *block, mlir::Operation *op,
                          OpOrder &order);

/// Returns whether all that an op reads was there before its block, or is made
/// of such values alone by a kernel that can be moved along: it may start
/// earlier.
bool mayStartEarlier(mlir::Operation *op);

/// Moves the aliases of an op's results to right after `place`.
void moveAliases(mlir::Operation *op, mlir::Operation *place, OpOrder &order);

/// Returns the operand whose buffer the first result takes; null if there is
/// none.
mlir::OpOperand *inPlaceOperand(AsyncOpInterface op);

/// Makes a call asynchronous, with a wait before `before`. Users read what the
/// wait returns; what is known of the results goes there.
WaitOp insertWait(AsyncOpInterface op, mlir::Operation *before, OpOrder &order);

} // namespace tessera::rt

#endif // TESSERA_LIB_COMMUNICATE_ASYNCCALLS_H
