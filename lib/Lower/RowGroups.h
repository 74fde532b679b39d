//===- RowGroups.h - values with rows of the same tokens --------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_ROWGROUPS_H
#define TESSERA_LIB_LOWER_ROWGROUPS_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Dialect/RT/RT.h"
#include <deque>

namespace tessera {

/// Rows [experts, batch, sequence, columns] of one routing.
struct RowGroup {
  llvm::SmallVector<mlir::Value> values;
  /// The gates that say which rows are routed; the first of several that are
  /// equal.
  mlir::Value gates;
  /// Makes the group's values of another's.
  llvm::SmallVector<rt::AllToAllOp> exchangesIn, exchangesOut;
  bool isCompact = true; ///< values may hold routed rows alone
  int64_t rows = 0;      ///< the most rows that are routed
};

/// The groups of a program. A group may be compact if nothing reads its values
/// but what reads routed rows only, if its gates are of one `top_k`, and if
/// what it exchanges rows with may be compact too.
class RowGroups {
public:
  explicit RowGroups(mlir::ModuleOp module);

  std::deque<RowGroup>::iterator begin() { return groups.begin(); }
  std::deque<RowGroup>::iterator end() { return groups.end(); }
  RowGroup &of(mlir::Value value) { return groups[numbers.lookup(value)]; }

private:
  void collect(mlir::Value first);
  void spread();

  std::deque<RowGroup> groups;
  llvm::DenseMap<mlir::Value, size_t> numbers;
};

} // namespace tessera

#endif // TESSERA_LIB_LOWER_ROWGROUPS_H
