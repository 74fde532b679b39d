//===- PaddingFlow.h - what padding holds along a program -------*- C++ -*-===//
// The steps of a program in order, what the padding of every value holds, and
// how a set of masks changes that. No masks are in the program yet: each use of
// a value may read it as it is or masked.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_DISTRIBUTE_PADDINGFLOW_H
#define TESSERA_LIB_DISTRIBUTE_PADDINGFLOW_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

namespace tessera {

/// The padding of one dimension, filled.
struct PaddingMask {
  int64_t dim = 0;
  dist::Padding fill = dist::Padding::Zero;
  bool operator==(const PaddingMask &other) const {
    return dim == other.dim && fill == other.fill;
  }
};
using PaddingMasks = llvm::SmallVector<PaddingMask, 2>;

/// The masks that uses of a value may read.
using MaskSites = llvm::MapVector<mlir::Value, PaddingMasks>;

/// The paddings that one op reads and gives.
struct PaddingStep {
  /// The masks through which each operand is read.
  llvm::SmallVector<PaddingMasks, 2> operands;
  /// The padding of each result; for a yield, of each result of its loop.
  llvm::SmallVector<dist::DimPaddings, 2> results;
};

class PaddingFlow {
public:
  explicit PaddingFlow(mlir::func::FuncOp func);

  /// Returns the steps that are accepted, from the first one.
  size_t frontier() const { return known.size(); }
  size_t size() const { return steps.size(); }
  bool isDone() const { return frontier() == size(); }
  mlir::Operation *op(size_t step) const { return steps[step]; }
  /// Returns why the step at the frontier is refused.
  std::string why() const;

  /// The effect of other masks: steps that change, and steps after the
  /// frontier.
  struct Trial {
    std::map<size_t, PaddingStep> changed;
    size_t reached = 0; ///< The first refused step, or `size()`.
  };
  /// Tries other masks on `changed` values, and goes up to `lookahead` steps
  /// beyond the frontier. Nothing before the frontier is refused if `reached`
  /// is not below it.
  Trial attempt(const MaskSites &sites, llvm::ArrayRef<mlir::Value> changed,
                size_t lookahead) const;
  /// Makes a trial the state of the flow.
  void accept(Trial trial);

  const PaddingStep &stepOf(size_t step) const { return known[step]; }
  /// (operand, dimension) of which dimension `dim` of a value is made.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>>
  originsOf(mlir::Value value, int64_t dim) const;
  llvm::SmallVector<int64_t> paddedDims(mlir::Value value) const;
  /// Elements that a rank holds of a value.
  int64_t localElements(mlir::Value value) const;

private:
  struct Source {
    size_t step;
    unsigned result;
  };
  const PaddingStep *lookUp(const Trial &trial, size_t step) const;
  dist::DimPaddings paddingsOf(const Trial &trial, mlir::Value value) const;
  std::optional<PaddingStep> read(size_t step, const MaskSites &sites,
                                  const Trial &trial) const;
  std::optional<PaddingStep> passOn(mlir::Operation *op,
                                    dist::OperandPaddings operands) const;
  std::optional<PaddingStep> judge(mlir::Operation *op,
                                   dist::OperandPaddings operands) const;
  void addUsers(mlir::Value value, std::set<size_t> &affected) const;
  void addReaders(size_t step, std::set<size_t> &affected) const;

  dist::MeshAttr mesh;
  llvm::SmallVector<mlir::Operation *> steps;
  llvm::DenseMap<mlir::Operation *, size_t> stepNumbers;
  llvm::DenseMap<mlir::Value, Source> sources;
  std::vector<PaddingStep> known;
};

} // namespace tessera

#endif // TESSERA_LIB_DISTRIBUTE_PADDINGFLOW_H
