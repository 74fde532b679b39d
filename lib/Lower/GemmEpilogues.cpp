//===- GemmEpilogues.cpp - what the library does beside a product ---------===//
// A kernel that reads what a product has just written, or a sum over what a
// product reads anyway, costs a pass over memory that the library's product
// does on the way. Only what would be stored in any case is taken: a kernel
// that does more than GELU with a product stays whole.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/OpOrder.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Kernels/KernelSpace.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Partition/Factors.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_GEMMEPILOGUESPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The values that a product computes besides its result.
struct Epilogue {
  Type saved, sums;
  Value geluInput;
  rt::GemmOperandAttr sumsOf;
};

/// Returns a copy of the product with the epilogue, without marks.
rt::GemmOp createWith(OpBuilder &builder, rt::GemmOp gemm,
                      const Epilogue &epilogue) {
  auto made = rt::GemmOp::create(
      builder, gemm.getLoc(), gemm.getC().getType(), epilogue.saved,
      epilogue.sums, gemm.getA(), gemm.getB(), gemm.getBias(),
      gemm.getAccumulator(), epilogue.geluInput, gemm.getMAttr(),
      gemm.getNAttr(), gemm.getKAttr(), gemm.getLdaAttr(), gemm.getLdbAttr(),
      gemm.getLdcAttr(), gemm.getTransAAttr(), gemm.getTransBAttr(),
      IntegerAttr(), gemm.getOuterAttr(), epilogue.sumsOf);
  nn::inheritPhase(made, gemm);
  return made;
}

/// Replaces `from` by `to`, which also inherits what the report and verify know
/// of it.
void replace(Value from, Value to) {
  for (StringRef name : {StringRef(rt::RTDialect::kKeepAttr),
                         StringRef(rt::RTDialect::kRoleAttr)})
    if (DictionaryAttr entry = getResultEntry(cast<OpResult>(from), name))
      setResultEntry(cast<OpResult>(to), name, entry);
  from.replaceAllUsesWith(to);
}

/// The product that makes the value in the block of `reader`, if it has no
/// epilogue yet and is one chain of sums.
rt::GemmOp plainProduct(Value value, Operation *reader) {
  auto gemm = value.getDefiningOp<rt::GemmOp>();
  bool isPlain = gemm && gemm->getBlock() == reader->getBlock() &&
                 !gemm.getChunks() && !gemm.getSaved() &&
                 !gemm.getGeluInput() && !gemm.getSums();
  return isPlain ? gemm : rt::GemmOp();
}

bool sumsRows(Operation *op) {
  std::optional<KernelSpace> space = kernelSpace(op);
  return space && space->reduction == KernelSpace::Rows;
}

/// Returns whether library calls read the value, and no kernel that could have
/// made it.
bool isStored(Value value) {
  bool isRead = false;
  for (Operation *user : value.getUsers()) {
    if (kernelSpace(user) && !sumsRows(user))
      return false;
    isRead |= isa<rt::RuntimeCallOpInterface>(user);
  }
  return isRead;
}

/// gelu(gemm(a, b) bias) -> gemm(a, b) bias saving: c is not read again.
void foldGelu(nn::MapOp op, rt::OpOrder &) {
  rt::GemmOp gemm = plainProduct(op.getInput(), op);
  if (!gemm || op.getFunction() != nn::Function::GeluTanh ||
      gemm.getAccumulator() || op.getType() != gemm.getC().getType() ||
      nn::phaseOf(op) != nn::phaseOf(gemm) || !isStored(op))
    return;
  OpBuilder builder(gemm);
  Epilogue epilogue;
  epilogue.saved = gemm.getC().getType();
  rt::GemmOp made = createWith(builder, gemm, epilogue);
  replace(op, made.getC());
  op.erase();
  replace(gemm.getC(), made.getSaved());
  gemm.erase();
}

/// gelu'(x) gemm(a, b) -> gemm(a, b) gelu_grad(x): the product is not stored;
/// verify compares c in its place.
void foldGeluGrad(nn::MapGradOp op, rt::OpOrder &) {
  rt::GemmOp gemm = plainProduct(op.getGrad(), op);
  if (!gemm || op.getFunction() != nn::Function::GeluTanh ||
      !gemm.getC().hasOneUse() || gemm.getBias() || gemm.getAccumulator() ||
      gemm->hasAttr(rt::RTDialect::kRoleAttr) ||
      op.getType() != gemm.getC().getType() ||
      op.getInput().getType() != op.getType() || !isStored(op))
    return;
  OpBuilder builder(op);
  Epilogue epilogue;
  epilogue.geluInput = op.getInput();
  replace(op, createWith(builder, gemm, epilogue).getC());
  op.erase();
  gemm.erase();
}

/// Returns whether a kernel that adds rows would read what `op` reads. An
/// elementwise op that only such sums read is computed in their kernel.
bool feedsSums(Operation *op, unsigned depth = 0) {
  constexpr unsigned kDeepest = 4;
  if (sumsRows(op))
    return true;
  std::optional<KernelSpace> space = kernelSpace(op);
  return space && space->reduction == KernelSpace::None && !op->use_empty() &&
         depth < kDeepest && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return feedsSums(user, depth + 1);
         });
}

/// Returns whether the rows that are added are the k terms of the product, in
/// the order in which they are stored.
bool hasRowsAsTerms(OpOperand &use, rt::GemmOp gemm) {
  if (&use == &gemm.getAMutable())
    return gemm.getTransA() && gemm.getLda() == gemm.getM();
  return &use == &gemm.getBMutable() && !gemm.getTransB() &&
         gemm.getLdb() == gemm.getN();
}

/// The ops before the product that read the value, directly or not, in order:
/// they move after it. nullopt if one of them must stay.
std::optional<SmallVector<Operation *>>
earlyReaders(Value value, rt::GemmOp gemm, rt::OpOrder &order) {
  constexpr size_t kMost = 8;
  llvm::SetVector<Operation *> early;
  SmallVector<Value> values = {value};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      Operation *there = gemm->getBlock()->findAncestorOpInBlock(*user);
      if (there && order.isBefore(gemm, there))
        continue;
      if (there != user || !isPure(user) || early.size() == kMost)
        return std::nullopt;
      if (early.insert(user))
        llvm::append_range(values, user->getResults());
    }
  SmallVector<Operation *> ordered = early.takeVector();
  llvm::sort(ordered,
             [&](Operation *a, Operation *b) { return order.isBefore(a, b); });
  return ordered;
}

/// Returns the operand of a product that reads the rows which `op` adds, if the
/// product can make their sums.
OpOperand *productOfTerms(nn::EinsumOp op, rt::OpOrder &order) {
  auto count = static_cast<uint64_t>(op.getType().getNumElements());
  for (OpOperand &use : op.getInputs()[0].getUses()) {
    auto gemm = dyn_cast<rt::GemmOp>(use.getOwner());
    if (!gemm || !hasRowsAsTerms(use, gemm) || !plainProduct(gemm.getC(), op) ||
        gemm.getBias() || gemm.getA() == gemm.getB() ||
        getElementTypeOrSelf(gemm.getC()) != getElementTypeOrSelf(op))
      continue;
    bool isA = &use == &gemm.getAMutable();
    if (count == (isA ? gemm.getM() : gemm.getN()) &&
        earlyReaders(op, gemm, order))
      return &use;
  }
  return nullptr;
}

/// sum(g), gemm(x, g) -> gemm(x, g) summing b: g is read once.
void foldSums(nn::EinsumOp op, rt::OpOrder &order) {
  if (op.getInputs().size() != 1 || !sumsRows(op) ||
      op.getScale().convertToDouble() != 1.0)
    return;
  bool isReadAnyway =
      llvm::any_of(op.getInputs()[0].getUsers(), [&](Operation *user) {
        return user != op && feedsSums(user);
      });
  OpOperand *use = isReadAnyway ? nullptr : productOfTerms(op, order);
  if (!use)
    return;
  auto gemm = cast<rt::GemmOp>(use->getOwner());
  bool isA = use == &gemm.getAMutable();
  OpBuilder builder(gemm);
  Epilogue epilogue;
  epilogue.sums = op.getType();
  epilogue.sumsOf = rt::GemmOperandAttr::get(
      op.getContext(), isA ? rt::GemmOperand::A : rt::GemmOperand::B);
  rt::GemmOp made = createWith(builder, gemm, epilogue);
  SmallVector<Operation *> early = *earlyReaders(op, gemm, order);
  for (Operation *reader : llvm::reverse(early))
    order.moveAfter(reader, gemm);
  replace(gemm.getC(), made.getC());
  order.erase(gemm);
  replace(op, made.getSums());
  order.erase(op);
}

struct GemmEpiloguesPass
    : tessera::impl::GemmEpiloguesPassBase<GemmEpiloguesPass> {
  void runOnOperation() override {
    foldAll<nn::MapOp>(foldGelu);
    foldAll<nn::MapGradOp>(foldGeluGrad);
    foldAll<nn::EinsumOp>(foldSums);
  }

  /// A fold erases only the op that it is given, and products.
  template <typename OpTy> void foldAll(void (*fold)(OpTy, rt::OpOrder &)) {
    rt::OpOrder order;
    SmallVector<OpTy> ops;
    getOperation().walk([&](OpTy op) { ops.push_back(op); });
    for (OpTy op : ops)
      fold(op, order);
  }
};

} // namespace
