//===- PartEmitter.h - code of some consecutive ops -----------------------===//
// One function per part of the program keeps every LLVM pass linear. A part
// recomputes the scalars it needs, so nothing but loop counters passes between
// parts.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CONVERSION_RTTOLLVM_PARTEMITTER_H
#define TESSERA_LIB_CONVERSION_RTTOLLVM_PARTEMITTER_H

#include "RuntimeCall.h"
#include "StatusFunction.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {

/// Equal constant argument lists are one global of the module.
class ConstantTables {
public:
  explicit ConstantTables(mlir::Operation *position) : position(position) {}
  mlir::LLVM::GlobalOp get(llvm::ArrayRef<int64_t> values);

private:
  mlir::Operation *position;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> tables;
};

class PartEmitter {
public:
  /// `part` is empty; its counters are those of the loops around the ops, from
  /// the outside in.
  PartEmitter(StatusFunction &part, dist::MeshAttr mesh,
              mlir::SymbolTable &symbols, ConstantTables &tables)
      : part(part), mesh(mesh), symbols(symbols), tables(tables) {}

  /// Appends the call of an op that is number `index` of the metadata's ops.
  mlir::LogicalResult emit(rt::RuntimeCallOpInterface op, int64_t index);

private:
  mlir::FailureOr<mlir::Value> bufferTable(const RuntimeCall &call,
                                           mlir::Operation *op);
  mlir::Value argumentTable(const RuntimeCall &call);
  mlir::Value valueOf(const CallArgument &argument);
  mlir::Value pointerTo(mlir::Value tensor);
  mlir::Value scalarOf(mlir::Value value);
  mlir::Value streamKey(rt::StreamKeyOp op);
  mlir::Value mixed(mlir::Value x);
  void reserve(mlir::Value &table, int64_t &reserved, int64_t slots);

  StatusFunction &part;
  dist::MeshAttr mesh;
  mlir::SymbolTable &symbols;
  ConstantTables &tables;
  mlir::IRMapping scalars;
  mlir::Value buffers, arguments; ///< Stack tables, reused by the calls.
  int64_t bufferSlots = 0, argumentSlots = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_RTTOLLVM_PARTEMITTER_H
