//===- CallList.h - consecutive ops as a list of calls ----------*- C++ -*-===//
// A program is data: the runtime reads the list (abi.h, tsr_abi_calls). Only
// what is not known until a rank runs it, coordinates and counters, is code.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_CALLLIST_H
#define TESSERA_LIB_CODEGEN_CALLS_CALLLIST_H

#include "lib/Codegen/Calls/CallTables.h"
#include "lib/Codegen/Calls/Scalars.h"
#include <map>

namespace tessera {

class CallList {
public:
  CallList(dist::MeshAttr mesh, mlir::SymbolTable &symbols, CallTables &tables)
      : mesh(mesh), symbols(symbols), tables(tables) {}

  mlir::LogicalResult add(rt::RuntimeCallOpInterface op);
  int64_t size() const { return count; }
  /// A word has 15 bits for the number of a scalar; the rest is for one call.
  bool isFull() const { return slots.size() > 0x7000; }
  /// The calls run here; the first is number `firstOp` of the metadata's ops.
  void emit(StatusFunction &function, Scalars &scalars, int64_t firstOp);

private:
  /// A sum of values times factors, which are known when the list runs.
  using Term = std::tuple<int, void *, int64_t>;
  using Slot = llvm::SmallVector<Term, 1>;

  mlir::FailureOr<int64_t> kernelOf(const RuntimeCall &call,
                                    mlir::Operation *op);
  int64_t wordOf(mlir::Value buffer);
  void addArguments(const RuntimeCall &call);
  int64_t slotOf(const Slot &slot);
  mlir::Value codeOf(const Slot &slot, StatusFunction &function,
                     Scalars &scalars);

  dist::MeshAttr mesh;
  mlir::SymbolTable &symbols;
  CallTables &tables;
  llvm::SmallVector<int64_t> words;
  std::map<Slot, int64_t> slots;
  int64_t count = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_CALLLIST_H
