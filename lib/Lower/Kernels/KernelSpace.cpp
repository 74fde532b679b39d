//===- KernelSpace.cpp - the rows and columns of an op --------------------===//

#include "tessera/Lower/Kernels/KernelSpace.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"

using namespace mlir;
using namespace tessera;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

int64_t KernelSpace::elements() const { return product(sizes); }
int64_t KernelSpace::rows() const {
  return product(ArrayRef<int64_t>(sizes).take_front(split));
}
int64_t KernelSpace::columns() const {
  return product(ArrayRef<int64_t>(sizes).drop_front(split));
}

KernelSpace tessera::factorsOf(const dist::Signature &signature) {
  KernelSpace space;
  space.result = space.factors = signature.out;
  for (auto [k, factors] : llvm::enumerate(signature.ins)) {
    bool lendsShape = llvm::is_contained(signature.shapeOnly, k);
    space.operands.push_back(
        {factors, lendsShape ? KernelOperand::Shape : KernelOperand::Element});
    if (factors.size() > space.factors.size())
      space.factors = factors;
  }
  return space;
}

bool tessera::setSizes(Operation *op, KernelSpace &space) {
  for (char f : space.factors) {
    int64_t size = -1;
    auto look = [&](StringRef letters, Value value) {
      size_t dim = letters.find(f);
      if (dim != StringRef::npos)
        size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    };
    for (auto [read, operand] : llvm::zip(space.operands, op->getOperands()))
      look(read.factors, operand);
    look(space.result, op->getResult(0));
    if (size < 0)
      return false;
    space.sizes.push_back(size);
  }
  return true;
}

/// A proper prefix of the space is a value per row and fixes the split; a
/// proper suffix is a value per column. Per-row values win: a suffix longer
/// than a row is then read in cycles.
static bool fixSplit(KernelSpace &space) {
  int64_t rank = space.factors.size(), byColumn = -1;
  auto visit = [&](StringRef letters) {
    StringRef all = space.factors;
    int64_t n = letters.size();
    if (n == 0)
      return true;
    if (n == rank)
      return all == letters; // a transposition is no kernel
    if (all.starts_with(letters)) {
      bool same = space.split < 0 || space.split == n;
      space.split = n;
      return same;
    }
    if (!all.ends_with(letters))
      return false;
    byColumn = std::max(byColumn, rank - n);
    return true;
  };
  for (const KernelOperand &operand : space.operands)
    if (!visit(operand.factors))
      return false;
  if (space.split < 0)
    space.split = byColumn;
  return true;
}

static bool fixReduction(KernelSpace &space) {
  int64_t rank = space.factors.size(), n = space.result.size();
  if (n == rank)
    return true;
  StringRef all = space.factors;
  if (all.starts_with(space.result)) {
    space.reduction = KernelSpace::Columns; // along a row
    bool same = space.split < 0 || space.split == n;
    space.split = n;
    return same;
  }
  if (!all.ends_with(space.result))
    return false;
  space.reduction = KernelSpace::Rows;
  bool same = space.split < 0 || space.split == rank - n;
  space.split = rank - n;
  return same;
}

std::optional<KernelSpace> tessera::spaceOf(Operation *op,
                                            const dist::Signature &signature) {
  KernelSpace space = factorsOf(signature);
  bool fits = setSizes(op, space) && fixSplit(space) && fixReduction(space);
  return fits ? std::optional(space) : std::nullopt;
}

std::optional<KernelSpace> tessera::spaceOfSignature(Operation *op) {
  return spaceOf(op, cast<dist::DistributableOpInterface>(op).getSignature(0));
}

std::optional<KernelSpace> tessera::kernelSpace(Operation *op) {
  auto kernelOp = dyn_cast<KernelOpInterface>(op);
  return kernelOp ? kernelOp.getKernelSpace() : std::nullopt;
}
