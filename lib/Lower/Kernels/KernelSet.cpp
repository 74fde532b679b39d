//===- KernelSet.cpp - kernels, equal ones once ---------------------------===//

#include "lib/Lower/Kernels/KernelSet.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace tessera;

size_t KernelSet::hashOf(func::FuncOp kernel) {
  llvm::hash_code hash = hash_value(Type(kernel.getFunctionType()));
  kernel.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// Returns whether the functions are equal in everything but the name.
static bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

std::pair<SharedKernel &, bool> KernelSet::insert(func::FuncOp func,
                                                  size_t hash) {
  SmallVector<SharedKernel *, 1> &alike = known[hash];
  for (SharedKernel *kernel : alike)
    if (areEqual(func, kernel->func))
      return {*kernel, false};
  kernels.push_back({func, hash, {}, {}, {}});
  alike.push_back(&kernels.back());
  return {kernels.back(), true};
}
