//===- AssignOwners.cpp - which rank of dp updates a parameter ------------===//
// A parameter server whose servers are the ranks of `dp` (Li et al., OSDI
// 2014): a parameter's sum of gradients is kept at one of them.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Train/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ASSIGNOWNERSPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

constexpr StringLiteral kAxis = kDataAxis;

struct AssignOwnersPass
    : tessera::impl::AssignOwnersPassBase<AssignOwnersPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> found =
        nn::findProgram(getOperation(), "gradients");
    if (failed(found) || failed(check(*found)))
      return signalPassFailure();
    Operation *ret = found->getBody().front().getTerminator();
    for (auto [number, owner] : owners(ret))
      if (failed(keepAt(ret->getOpOperand(number), owner)))
        return signalPassFailure();
    found->setType(FunctionType::get(&getContext(),
                                     found->getFunctionType().getInputs(),
                                     ret->getOperandTypes()));
  }

  LogicalResult check(func::FuncOp func);
  SmallVector<std::pair<unsigned, int64_t>> owners(Operation *ret);
  LogicalResult keepAt(OpOperand &gradient, int64_t owner);

  MeshAttr mesh;
};

LogicalResult AssignOwnersPass::check(func::FuncOp func) {
  mesh = meshOf(func);
  if (!mesh || mesh.getSize(kAxis) == 1)
    return func.emitError() << "has no mesh axis '" << kAxis
                            << "' of several ranks to own parameters";
  for (Value value : func.getBody().front().getTerminator()->getOperands())
    if (State state = stateOf(value.getType(), kAxis); state.kind != State::I)
      return func.emitError() << "returns " << state.str() << " on '" << kAxis
                              << "'; owners have whole parameters: leave ZeRO "
                                 "out";
  return success();
}

/// Maps the number of a returned gradient to its owner. The largest parameter
/// comes first; each goes to the rank that has the fewest bytes so far (the
/// first of equal ranks).
SmallVector<std::pair<unsigned, int64_t>>
AssignOwnersPass::owners(Operation *ret) {
  SmallVector<std::pair<unsigned, int64_t>> result;
  SmallVector<int64_t> sizes;
  for (Value value : ret->getOperands()) {
    auto type = cast<RankedTensorType>(value.getType());
    sizes.push_back(type.getElementTypeBitWidth());
    for (int64_t size : localShape(type, mesh))
      sizes.back() *= size;
  }
  for (unsigned number = 1; number < sizes.size(); ++number) // 0 is the loss
    result.push_back({number, 0});
  llvm::stable_sort(result, [&](const auto &a, const auto &b) {
    return sizes[a.first] > sizes[b.first];
  });
  SmallVector<int64_t> owned(mesh.getSize(kAxis));
  for (auto &[number, owner] : result) {
    owner = llvm::min_element(owned) - owned.begin();
    owned[owner] += sizes[number];
  }
  llvm::sort(result);
  return result;
}

/// Returns the sum over `dp` that a gradient comes from, by conversions and ops
/// that read nothing else: where it can be kept. Null if there is none.
ConvertOp sumOf(Value gradient) {
  while (Operation *op = gradient.getDefiningOp()) {
    auto convert = dyn_cast<ConvertOp>(op);
    if (!gradient.hasOneUse())
      return {};
    if (convert && convert.getAxis() == kAxis &&
        convert.getFrom().kind == State::P)
      return convert;
    if (!convert && !isa<nn::PrefixGradOp>(op))
      return {};
    gradient = op->getOperand(0);
  }
  return {};
}

Value keep(OpBuilder &builder, Value value, State at) {
  auto kept = ConvertOp::create(builder, value.getLoc(), value, kAxis, at);
  nn::setPhase(kept, nn::Phase::Backward);
  return kept.getOutput();
}

/// Gives the ops after the sum to the owner, too.
LogicalResult AssignOwnersPass::keepAt(OpOperand &gradient, int64_t owner) {
  ConvertOp sum = sumOf(gradient.get());
  Value source = sum ? sum.getOutput() : gradient.get();
  OpBuilder builder(&getContext());
  if (sum)
    builder.setInsertionPointAfter(sum);
  else
    builder.setInsertionPoint(gradient.getOwner());
  OpOperand *use = sum ? &*source.use_begin() : &gradient;
  State at{State::A, owner};
  use->set(keep(builder, source, at));
  for (Operation *op = use->getOwner(); !isa<func::ReturnOp>(op);
       op = *op->user_begin()) {
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      convert.getOutput().setType(
          withState(cast<RankedTensorType>(convert.getType()), kAxis, at));
      continue;
    }
    builder.setInsertionPoint(op);
    // Operands in another state only lend their shapes.
    for (OpOperand &operand : op->getOpOperands())
      if (stateOf(operand.get().getType(), kAxis) != at)
        operand.set(keep(builder, operand.get(), at));
    if (failed(setResultTypes(op)))
      return failure();
  }
  return success();
}

} // namespace
