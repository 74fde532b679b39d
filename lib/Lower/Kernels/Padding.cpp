//===- Padding.cpp - the padding of uneven shards is zero -----------------===//

#include "lib/Lower/Kernels/Padding.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

/// Maxima, and functions that make something else of 0.
static bool masksAlways(Operation *op) {
  auto map = dyn_cast<nn::MapOp>(op);
  return isa<nn::MaxOp>(op) || (map && map.getFunction() == nn::Function::Exp);
}

/// Does the op repeat an operand along a dimension of its result, and so along
/// its padding?
static bool repeatsAlong(Operation *op, char factor) {
  if (!isa<nn::AddOp, nn::BroadcastOp>(op))
    return false;
  dist::Signature sig =
      cast<dist::DistributableOpInterface>(op).getSignature(0);
  unsigned reads = isa<nn::BroadcastOp>(op) ? 1 : sig.ins.size();
  return llvm::any_of(ArrayRef(sig.ins).take_front(reads),
                      [&](StringRef in) { return !in.contains(factor); });
}

/// Is what the op reads in the padding of a value's last dimension without
/// effect: masked, or multiplied with another value's 0?
static bool ignoresPadding(OpOperand &use) {
  Operation *op = use.getOwner();
  if (masksAlways(op))
    return true;
  auto product = dyn_cast<nn::EinsumOp>(op);
  if (!product)
    return false;
  dist::Signature sig = product.getSignature(0);
  char factor = sig.ins[use.getOperandNumber()].back();
  for (auto [k, in] : llvm::enumerate(sig.ins)) {
    Operation *other = op->getOperand(k).getDefiningOp();
    bool isZero = k != use.getOperandNumber() && StringRef(in).contains(factor);
    if (isZero && !(other && repeatsAlong(other, in.back())))
      return true;
  }
  return false;
}

bool tessera::masksPadding(Operation *op, char column) {
  return masksAlways(op) || (repeatsAlong(op, column) &&
                             !llvm::all_of(op->getUses(), ignoresPadding));
}
