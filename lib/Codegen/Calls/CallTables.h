//===- CallTables.h - what the lists of calls of a program share ----------===//
// Constant arguments, equal lists of them once, and the kernels' addresses.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_CALLTABLES_H
#define TESSERA_LIB_CODEGEN_CALLS_CALLTABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {

class CallTables {
public:
  /// Globals stand before `position`.
  explicit CallTables(mlir::Operation *position)
      : builder(position), loc(position->getLoc()),
        pointer(mlir::LLVM::LLVMPointerType::get(builder.getContext())) {}

  /// Returns the index of the first of these arguments in the table of all.
  int64_t arguments(llvm::ArrayRef<int64_t> values);
  /// Returns the index of a kernel; `symbol` may be defined later.
  int64_t kernel(llvm::StringRef symbol);

  /// A tsr_abi_calls: `count` calls in `words`, the first of them op number
  /// `firstOp` of the metadata.
  mlir::LLVM::GlobalOp list(llvm::ArrayRef<int64_t> words, int64_t count,
                            int64_t firstOp);
  /// A table of numbers, or of functions.
  mlir::LLVM::GlobalOp integers(llvm::StringRef name,
                                llvm::ArrayRef<int64_t> values);
  /// Writes numbers that are not negative, in as few bytes as the largest
  /// needs.
  mlir::LLVM::GlobalOp indices(llvm::StringRef name,
                               llvm::ArrayRef<int32_t> values);
  mlir::LLVM::GlobalOp
  functions(llvm::StringRef name,
            llvm::ArrayRef<mlir::LLVM::LLVMFuncOp> functions);
  /// Writes the shared tables; nothing may be added afterwards.
  void finish();

private:
  mlir::LLVM::GlobalOp create(llvm::StringRef name, mlir::Type type,
                              mlir::Attribute content = {});
  /// Returns null where there is no such table.
  mlir::Value addressOf(llvm::StringRef symbol, bool exists = true);
  mlir::Value integer(int64_t value);
  /// Writes the content of a constant that holds addresses.
  void fill(mlir::LLVM::GlobalOp global,
            llvm::function_ref<llvm::SmallVector<mlir::Value>()> fields);

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type pointer;
  llvm::SmallVector<int64_t> pool;
  llvm::DenseMap<mlir::Attribute, int64_t> known;
  llvm::MapVector<llvm::StringRef, int64_t> kernels;
  int64_t lists = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_CALLTABLES_H
