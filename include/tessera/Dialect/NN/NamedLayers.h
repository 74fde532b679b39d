//===- NamedLayers.h - the layers that locations name -----------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_NAMEDLAYERS_H
#define TESSERA_DIALECT_NN_NAMEDLAYERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// Returns the layer of an op ("h.3"); "" if it is in none. A conversion
/// belongs to the layer that reads its result: sequence parallel layers gather
/// what the last one hands to them.
llvm::StringRef layerOf(mlir::Operation *op);

/// Returns the names of the layers that locations name, in program order.
llvm::SmallVector<llvm::StringRef> layersOf(mlir::func::FuncOp func);

/// Returns those of the program's `all` layers whose numbers are "0-3" or "5".
/// `purpose` is said in errors: "are to recompute 'full'".
mlir::FailureOr<llvm::ArrayRef<llvm::StringRef>>
layersNumbered(mlir::Operation *program, llvm::StringRef numbers,
               llvm::ArrayRef<llvm::StringRef> all, const llvm::Twine &purpose);

} // namespace tessera

#endif // TESSERA_DIALECT_NN_NAMEDLAYERS_H
