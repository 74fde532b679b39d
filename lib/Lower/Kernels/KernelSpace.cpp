//===- KernelSpace.cpp - the rows and columns of an op --------------------===//

#include "lib/Lower/Kernels/KernelSpace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/TypeSwitch.h"

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

/// Sizes of the iteration space, from the operands and the result.
static bool fillSizes(Operation *op, KernelSpace &space) {
  for (char f : space.factors) {
    int64_t size = -1;
    auto look = [&](StringRef letters, Value value) {
      size_t dim = letters.find(f);
      if (dim != StringRef::npos)
        size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    };
    for (auto [letters, operand] : llvm::zip(space.operands, op->getOperands()))
      look(letters, operand);
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
  for (const std::string &letters : space.operands)
    if (!visit(letters))
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

/// Ops that a kernel can hold, by their signature.
static bool isKernelOp(Operation *op) {
  if (auto einsum = dyn_cast<nn::EinsumOp>(op))
    return !einsum.isContraction();
  return isa<nn::AddOp, nn::BroadcastOp, nn::MapOp, nn::MapGradOp, nn::CastOp,
             nn::DropoutOp, nn::PickOp, nn::PickGradOp, nn::MaxOp,
             nn::EmbeddingOp, nn::PrefixGradOp, nn::RopeOp, nn::CountedOp,
             nn::RoutedOp, nn::AdamWOp, rt::FirstOp, rt::SliceOp, rt::PadOp>(
      op);
}

/// The dimension that an op cuts or pads: rows end with it.
static std::optional<int64_t> chunkedDimension(Operation *op) {
  if (auto slice = dyn_cast<rt::SliceOp>(op))
    return slice.getDim();
  if (auto pad = dyn_cast<rt::PadOp>(op))
    return pad.getDim();
  return std::nullopt;
}

/// Rows are halves of heads: both halves are read at the same columns.
static KernelSpace rotationSpace(nn::RopeOp op) {
  int64_t angles = op.getCosines().getType().getDimSize(1);
  KernelSpace space;
  space.factors = space.result = "ze";
  space.sizes = {op.getType().getNumElements() / angles, angles};
  space.operands = {"", "", ""};
  space.split = 1;
  return space;
}

bool tessera::readsTable(Operation *op, unsigned operand) {
  if (isa<nn::EmbeddingOp>(op))
    return operand == 1;
  return isa<nn::RopeOp>(op) ||
         (isa<nn::PrefixGradOp, rt::SliceOp, rt::PadOp>(op) && operand == 0);
}

bool tessera::lendsShape(Operation *op, unsigned operand) {
  return isa<nn::BroadcastOp, nn::PickGradOp, nn::PrefixGradOp>(op) &&
         operand + 1 == op->getNumOperands();
}

std::optional<KernelSpace> tessera::kernelSpace(Operation *op) {
  if (!isKernelOp(op))
    return std::nullopt;
  if (auto rope = dyn_cast<nn::RopeOp>(op))
    return rotationSpace(rope);
  KernelSpace space;
  dist::Signature sig;
  if (auto iface = dyn_cast<dist::DistributableOpInterface>(op))
    sig = iface.getSignature(0);
  else
    sig = dist::Signature::elementwise(
        cast<RankedTensorType>(op->getOperand(0).getType()).getRank(), 1);
  space.operands.assign(sig.ins.begin(), sig.ins.end());
  space.result = sig.out;
  space.factors = sig.out;
  for (const std::string &letters : space.operands)
    if (letters.size() > space.factors.size())
      space.factors = letters;
  if (std::optional<int64_t> dim = chunkedDimension(op)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    space.sizes.assign(type.getShape().begin(), type.getShape().end());
    space.split = *dim + 1;
    return space;
  }
  if (isa<nn::PrefixGradOp>(op)) { // the gradient is a shorter table
    space.factors = space.result = "ph";
    space.operands = {"", "ph"};
    space.split = 1;
    return fillSizes(op, space) ? std::optional(space) : std::nullopt;
  }
  if (isa<nn::EmbeddingOp>(op)) {
    space.split = sig.ins[0].size();
    return fillSizes(op, space) ? std::optional(space) : std::nullopt;
  }
  bool fits = fillSizes(op, space) && fixSplit(space) && fixReduction(space);
  return fits ? std::optional(space) : std::nullopt;
}
