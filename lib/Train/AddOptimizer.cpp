//===- AddOptimizer.cpp - appends clipping and updates --------------------===//
// Gradient norm and clipping, the update of each parameter, and the decision
// whether the step counts: where the loss or the norm is not finite, all state
// stays as it is.
//===----------------------------------------------------------------------===//

#include "lib/Train/UpdateRules.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Train/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ADDOPTIMIZERPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// A parameter as the optimizer sees it.
struct Parameter {
  StringAttr name;
  OptimizerKind rule;
  UpdateInputs inputs;
};

constexpr StringLiteral kMomentRoles[] = {"moment1", "moment2"};

class OptimizerBuilder {
public:
  OptimizerBuilder(func::FuncOp func, const Hyperparameters &hyper)
      : func(func), ret(func.getBody().front().getTerminator()), ops(func),
        hyper(hyper) {}

  LogicalResult run();

private:
  void declareArgument(RankedTensorType type, StringRef role, StringAttr name);
  ArrayRef<BlockArgument> insertArguments();
  void addResult(Value value, StringRef role, StringAttr name);
  LogicalResult checkGradients();
  LogicalResult collectParameters();
  void declareMoments(const Parameter &p);
  void addArguments();
  void markPhase(Operation *op);
  Value globalNorm();
  Value stepCounts(Value norm);
  void commit(Value updated, Value old, StringRef role, StringAttr name);
  void update(Parameter &p, Value clip);
  void finish();

  func::FuncOp func;
  Operation *ret;
  OptimizerOps ops;
  Hyperparameters hyper;
  SmallVector<Parameter> params;
  SmallVector<Type> argumentTypes; ///< Declared, and not inserted yet.
  SmallVector<DictionaryAttr> argumentAttrs;
  Value counts; ///< Not 0: the step is applied.
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
};

DictionaryAttr roleAttrs(Builder &builder, StringRef role, StringRef nameKey,
                         StringAttr name) {
  SmallVector<NamedAttribute> attrs = {builder.getNamedAttr(
      nn::NNDialect::kRoleAttr, builder.getStringAttr(role))};
  if (name)
    attrs.push_back(builder.getNamedAttr(nameKey, name));
  return builder.getDictionaryAttr(attrs);
}

void OptimizerBuilder::declareArgument(RankedTensorType type, StringRef role,
                                       StringAttr name) {
  argumentTypes.push_back(type);
  argumentAttrs.push_back(roleAttrs(ops.builder, role, "nn.of", name));
}

/// Inserts all at once, since each insertion copies the function's type.
ArrayRef<BlockArgument> OptimizerBuilder::insertArguments() {
  unsigned first = func.getNumArguments();
  SmallVector<unsigned> places(argumentTypes.size(), first);
  SmallVector<Location> locations(argumentTypes.size(), func.getLoc());
  (void)func.insertArguments(places, argumentTypes, argumentAttrs, locations);
  return func.getArguments().drop_front(first);
}

void OptimizerBuilder::addResult(Value value, StringRef role, StringAttr name) {
  results.push_back(value);
  resultAttrs.push_back(
      roleAttrs(ops.builder, role, nn::NNDialect::kParamAttr, name));
}

LogicalResult OptimizerBuilder::collectParameters() {
  unsigned next = 1; // result 0 is the loss
  for (unsigned k = 0, n = func.getNumArguments(); k < n; ++k) {
    auto name = func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
    if (!nn::isTrained(func, k))
      continue;
    UpdateInputs inputs;
    inputs.parameter = func.getArgument(k);
    inputs.gradient = ret->getOperand(next++);
    if (func.getArgAttr(k, nn::NNDialect::kDecayAttr))
      inputs.decay = hyper.weightDecay;
    if (hyper.kind == OptimizerKind::Muon) {
      FailureOr<std::optional<MatrixForm>> matrix = matrixFormOf(func, k);
      if (failed(matrix))
        return failure();
      inputs.matrix = *matrix;
    }
    params.push_back({name, ruleOf(hyper.kind, inputs.matrix), inputs});
  }
  return success();
}

/// The moments are placed like the gradient, where the update happens.
void OptimizerBuilder::declareMoments(const Parameter &p) {
  auto type = cast<RankedTensorType>(p.inputs.parameter.getType());
  auto where = cast<RankedTensorType>(p.inputs.gradient.getType());
  type = RankedTensorType::get(type.getShape(), type.getElementType(),
                               where.getEncoding());
  for (unsigned k = 0; k < momentsOf(p.rule, hyper); ++k)
    declareArgument(type, kMomentRoles[k], p.name);
}

void OptimizerBuilder::addArguments() {
  bool corrects = takesBiasCorrections(hyper.kind);
  for (const Parameter &p : params)
    declareMoments(p);
  auto scalar = RankedTensorType::get(
      {}, getElementTypeOrSelf(ret->getOperand(0).getType()));
  declareArgument(scalar, "lr", {});
  if (corrects)
    for (StringRef role : {"bias_correction1", "bias_correction2"})
      declareArgument(scalar, role, {});
  ArrayRef<BlockArgument> inserted = insertArguments();
  ArrayRef<BlockArgument> scalars = inserted.take_back(corrects ? 3 : 1);
  for (Parameter &p : params) {
    unsigned moments = momentsOf(p.rule, hyper);
    llvm::append_range(p.inputs.moments, inserted.take_front(moments));
    inserted = inserted.drop_front(moments);
    p.inputs.lr = scalars[0];
    if (corrects) {
      p.inputs.correction1 = scalars[1];
      p.inputs.correction2 = scalars[2];
    }
  }
}

/// Makes the square root of the sum of squares. Each scalar is partial on every
/// axis before the sum, so that nothing is counted twice and one all-reduce per
/// axis is left.
Value OptimizerBuilder::globalNorm() {
  SmallVector<Value> squares;
  for (const Parameter &p : params) {
    Value gradient = p.inputs.gradient;
    ops.enter(p.name, p.inputs.parameter.getLoc());
    std::string d = nn::lettersOf(gradient);
    squares.push_back(ops.product(d + "," + d + "->", {gradient, gradient}));
    squares.back().getDefiningOp()->setAttr(nn::NNDialect::kGradientOfAttr,
                                            p.name);
  }
  ops.enter("grad_norm", ret->getLoc());
  std::string commas(squares.size() - 1, ',');
  return ops.toInvariant(
      ops.map(nn::Function::Sqrt, ops.sum(commas + "->", squares)));
}

/// Returns whether the step may change anything: 1, or 0 where the loss or the
/// norm is not finite. Invariant on every axis, so that all ranks decide alike.
Value OptimizerBuilder::stepCounts(Value norm) {
  Value loss = ops.map(nn::Function::IsFinite, ret->getOperand(0));
  return ops.toInvariant(
      ops.product(",->", {loss, ops.map(nn::Function::IsFinite, norm)}));
}

/// Commits the updated value, or the old one of a step that does not count. An
/// update of a parameter at its owner goes to all ranks that hold it.
void OptimizerBuilder::commit(Value updated, Value old, StringRef role,
                              StringAttr name) {
  Value kept = ops.emit<nn::CommitOp>(counts, updated, old);
  addResult(ops.toStatesOf(kept, old), role, name);
}

void OptimizerBuilder::update(Parameter &p, Value clip) {
  ops.enter(p.name, p.inputs.parameter.getLoc());
  if (clip)
    p.inputs.gradient = ops.scaled(clip, p.inputs.gradient);
  Updated updated = updatedBy(p.rule, hyper, ops, p.inputs);
  commit(updated.parameter, p.inputs.parameter, "parameter", p.name);
  for (auto [role, moment, old] :
       llvm::zip(kMomentRoles, updated.moments, p.inputs.moments))
    commit(moment, old, role, p.name);
}

/// Marks all ops after `op` (all ops if it is null), conversions as well.
void OptimizerBuilder::markPhase(Operation *op) {
  op = op ? op->getNextNode() : &ret->getBlock()->front();
  for (; op != ret; op = op->getNextNode())
    nn::setPhase(op, nn::Phase::Optimizer);
}

/// Checks that the function returns the loss and then a gradient per parameter,
/// in their order.
LogicalResult OptimizerBuilder::checkGradients() {
  unsigned parameters = 0;
  for (unsigned k = 0; k < func.getNumArguments(); ++k)
    parameters += nn::isTrained(func, k);
  if (parameters == 0)
    return func.emitError() << "has no parameter to train: no argument has "
                               "nn.param without nn.frozen";
  if (ret->getNumOperands() == parameters + 1)
    return success();
  return func.emitError() << "returns " << ret->getNumOperands()
                          << " values, but the loss and the gradients of "
                          << parameters << " parameters are " << parameters + 1
                          << "; run nn-differentiate first";
}

void OptimizerBuilder::finish() {
  ret->setOperands(results);
  func.setType(FunctionType::get(func.getContext(),
                                 func.getFunctionType().getInputs(),
                                 ret->getOperandTypes()));
  func.setAllResultAttrs(resultAttrs);
  func.setName("step");
}

LogicalResult OptimizerBuilder::run() {
  if (failed(checkGradients()) || failed(collectParameters()))
    return failure();
  Operation *before = ret->getPrevNode();
  addArguments();
  addResult(ret->getOperand(0), "loss", {});
  Value norm = globalNorm();
  addResult(norm, "grad_norm", {});
  counts = stepCounts(norm);
  addResult(counts, "applied", {});
  Value clip;
  if (hyper.clip > 0)
    clip = ops.map(nn::Function::ClipFactor, norm, hyper.clip);
  Value clipped = norm;
  if (clip && hyper.kind == OptimizerKind::Muon)
    clipped = ops.product(",->", {norm, clip});
  for (Parameter &p : params) {
    p.inputs.norm = clipped;
    update(p, clip);
  }
  if (ops.failedToPlace())
    return failure();
  markPhase(before);
  finish();
  return success();
}

struct AddOptimizerPass
    : tessera::impl::AddOptimizerPassBase<AddOptimizerPass> {
  using AddOptimizerPassBase::AddOptimizerPassBase;

  void runOnOperation() override {
    std::optional<OptimizerKind> kind = fromName<OptimizerKind>(optimizer);
    if (!kind) {
      getOperation().emitError()
          << "optimizer '" << optimizer << "' is not supported; use "
          << listNames<OptimizerKind>();
      return signalPassFailure();
    }
    FailureOr<func::FuncOp> found =
        nn::findProgram(getOperation(), "gradients");
    if (failed(found))
      return signalPassFailure();
    Hyperparameters hyper = {*kind,       beta1,    beta2, epsilon,
                             weightDecay, momentum, clip,  nesterov};
    if (failed(OptimizerBuilder(*found, hyper).run()))
      signalPassFailure();
  }
};

} // namespace
