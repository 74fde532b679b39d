//===- AddOptimizer.cpp - appends clipping and AdamW ----------------------===//

#include "lib/Distribute/Placement.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ADDOPTIMIZERPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// A parameter as the optimizer sees it.
struct Parameter {
  Value value, grad, moment1, moment2;
  StringAttr name;
  bool decays;
};

struct Hyperparameters {
  double beta1, beta2, epsilon, weightDecay, clip;
};

/// The optimizer's ops have no anchors: their operands say where they run.
ShardingPlan planOn(dist::MeshAttr mesh) {
  ShardingPlan plan;
  plan.mesh = mesh;
  return plan;
}

class OptimizerBuilder {
public:
  OptimizerBuilder(func::FuncOp func, Hyperparameters hyper)
      : func(func), ret(func.getBody().front().getTerminator()), builder(ret),
        loc(ret->getLoc()), place(planOn(dist::meshOf(func))), hyper(hyper) {}

  LogicalResult run();

private:
  void declareArgument(RankedTensorType type, StringRef role, StringAttr name);
  ArrayRef<BlockArgument> insertArguments();
  void addResult(Value value, StringRef role, StringAttr name);
  LogicalResult checkGradients();
  void collectParameters();
  void enter(StringRef part, Location file);
  void markPhase(Operation *op);
  Value product(const Twine &spec, ValueRange inputs);
  Value sum(const Twine &spec, ValueRange inputs, ArrayRef<double> coefs);
  Value map(nn::Function function, Value input, FloatAttr bound);
  template <typename OpTy, typename... Args> Value emit(Args &&...args);
  Value globalNorm();
  Value toInvariant(Value value);
  Value stepCounts(Value norm);
  void commit(Value updated, Value old, StringRef role, StringAttr name);
  void update(const Parameter &p, Value clip);
  Value toResting(Value updated, Value old);
  std::string lettersOf(Value value);

  func::FuncOp func;
  Operation *ret;
  OpBuilder builder;
  Location loc;
  Placement place;
  Hyperparameters hyper;
  SmallVector<Parameter> params;
  SmallVector<Type> argumentTypes; ///< Declared, and not inserted yet.
  SmallVector<DictionaryAttr> argumentAttrs;
  Value lr, correction1, correction2;
  Value counts; ///< Not 0: the step is applied.
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttrs;
  bool failedToPlace = false;
};

DictionaryAttr roleAttrs(Builder &builder, StringRef role, StringAttr name) {
  SmallVector<NamedAttribute> attrs = {builder.getNamedAttr(
      nn::NNDialect::kRoleAttr, builder.getStringAttr(role))};
  if (name)
    attrs.push_back(builder.getNamedAttr(nn::NNDialect::kParamAttr, name));
  return builder.getDictionaryAttr(attrs);
}

void OptimizerBuilder::declareArgument(RankedTensorType type, StringRef role,
                                       StringAttr name) {
  SmallVector<NamedAttribute> attrs = {builder.getNamedAttr(
      nn::NNDialect::kRoleAttr, builder.getStringAttr(role))};
  if (name)
    attrs.push_back(builder.getNamedAttr("nn.of", name));
  argumentTypes.push_back(type);
  argumentAttrs.push_back(builder.getDictionaryAttr(attrs));
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
  resultAttrs.push_back(roleAttrs(builder, role, name));
}

void OptimizerBuilder::collectParameters() {
  unsigned next = 1; // result 0 is the loss
  for (unsigned k = 0, n = func.getNumArguments(); k < n; ++k) {
    auto name = func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
    if (!name)
      continue;
    Parameter p;
    p.value = func.getArgument(k);
    p.name = name;
    p.grad = ret->getOperand(next++);
    p.decays = !!func.getArgAttr(k, nn::NNDialect::kDecayAttr);
    params.push_back(p);
  }
  for (Parameter &p : params) {
    // The moments are placed like the gradient, where the update happens.
    auto type = cast<RankedTensorType>(p.value.getType());
    auto where = cast<RankedTensorType>(p.grad.getType()).getEncoding();
    type = RankedTensorType::get(type.getShape(), type.getElementType(), where);
    declareArgument(type, "moment1", p.name);
    declareArgument(type, "moment2", p.name);
  }
  auto scalar = RankedTensorType::get(
      {}, getElementTypeOrSelf(ret->getOperand(0).getType()));
  for (StringRef role : {"lr", "bias_correction1", "bias_correction2"})
    declareArgument(scalar, role, {});
  ArrayRef<BlockArgument> inserted = insertArguments();
  for (Parameter &p : params) {
    p.moment1 = inserted[0];
    p.moment2 = inserted[1];
    inserted = inserted.drop_front(2);
  }
  lr = inserted[0];
  correction1 = inserted[1];
  correction2 = inserted[2];
}

/// Names the part of the model that the next ops belong to, for reports and
/// errors.
void OptimizerBuilder::enter(StringRef part, Location file) {
  loc = NameLoc::get(builder.getStringAttr(part), file);
}

template <typename OpTy, typename... Args>
Value OptimizerBuilder::emit(Args &&...args) {
  auto op =
      nn::createUntyped<OpTy>(builder, loc, 1, std::forward<Args>(args)...);
  if (failed(place.place(op)))
    failedToPlace = true;
  return op.getOutput();
}

Value OptimizerBuilder::product(const Twine &spec, ValueRange inputs) {
  return emit<nn::EinsumOp>(builder.getStringAttr(spec), inputs,
                            builder.getF64FloatAttr(1.0), TypeAttr());
}

Value OptimizerBuilder::sum(const Twine &spec, ValueRange inputs,
                            ArrayRef<double> coefs) {
  return emit<nn::AddOp>(builder.getStringAttr(spec), inputs,
                         coefs.empty() ? DenseF64ArrayAttr()
                                       : builder.getDenseF64ArrayAttr(coefs));
}

Value OptimizerBuilder::map(nn::Function function, Value input,
                            FloatAttr bound) {
  return emit<nn::MapOp>(nn::FunctionAttr::get(builder.getContext(), function),
                         input, bound);
}

std::string OptimizerBuilder::lettersOf(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return dist::Signature::elementwise(rank, 1).out;
}

/// Makes the square root of the sum of squares. Each scalar is partial on every
/// axis before the sum, so that nothing is counted twice and one all-reduce per
/// axis is left.
Value OptimizerBuilder::globalNorm() {
  SmallVector<Value> squares;
  for (const Parameter &p : params) {
    enter(p.name, p.value.getLoc());
    std::string d = lettersOf(p.grad);
    squares.push_back(product(d + "," + d + "->", {p.grad, p.grad}));
    squares.back().getDefiningOp()->setAttr(nn::NNDialect::kGradientOfAttr,
                                            p.name);
  }
  enter("grad_norm", ret->getLoc());
  std::string commas(squares.size() - 1, ',');
  return map(nn::Function::Sqrt, sum(commas + "->", squares, {}), {});
}

Value OptimizerBuilder::toInvariant(Value value) {
  if (dist::MeshAttr mesh = dist::meshOf(func))
    for (StringAttr axis : mesh.getAxes())
      value = place.convert(builder, value, axis, {dist::State::I});
  return value;
}

/// Whether the step may change anything: 1, or 0 where the loss or the norm is
/// not finite. Invariant on every axis, so that all ranks decide alike.
Value OptimizerBuilder::stepCounts(Value norm) {
  Value loss = ret->getOperand(0);
  return toInvariant(product(",->", {map(nn::Function::IsFinite, loss, {}),
                                     map(nn::Function::IsFinite, norm, {})}));
}

/// Returns the updated value, or the old one of a step that does not count.
void OptimizerBuilder::commit(Value updated, Value old, StringRef role,
                              StringAttr name) {
  addResult(toResting(emit<nn::CommitOp>(counts, updated, old), old), role,
            name);
}

/// Converts an updated value to its resting sharding: an update of a parameter
/// at its owner goes to all ranks that hold it.
Value OptimizerBuilder::toResting(Value updated, Value old) {
  if (dist::MeshAttr mesh = dist::meshOf(func))
    for (StringAttr axis : mesh.getAxes())
      updated = place.convert(builder, updated, axis,
                              dist::stateOf(old.getType(), axis));
  return updated;
}

void OptimizerBuilder::update(const Parameter &p, Value clip) {
  enter(p.name, p.value.getLoc());
  std::string d = lettersOf(p.grad), pair = d + "," + d + "->" + d;
  Value g = p.grad;
  if (clip)
    g = product("," + d + "->" + d, {clip, g});
  Value square = product(pair, {g, g});
  Value m = sum(pair, {p.moment1, g}, {hyper.beta1, 1 - hyper.beta1});
  Value v = sum(pair, {p.moment2, square}, {hyper.beta2, 1 - hyper.beta2});
  Value updated = emit<nn::AdamWOp>(
      p.value, m, v, lr, correction1, correction2,
      builder.getF64FloatAttr(hyper.epsilon),
      builder.getF64FloatAttr(p.decays ? hyper.weightDecay : 0.0));
  commit(updated, p.value, "parameter", p.name);
  commit(m, p.moment1, "moment1", p.name);
  commit(v, p.moment2, "moment2", p.name);
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
    parameters += !!func.getArgAttr(k, nn::NNDialect::kParamAttr);
  if (parameters == 0)
    return func.emitError() << "has no parameter: no argument has nn.param";
  if (ret->getNumOperands() == parameters + 1)
    return success();
  return func.emitError() << "returns " << ret->getNumOperands()
                          << " values, but the loss and the gradients of "
                          << parameters << " parameters are " << parameters + 1
                          << "; run nn-differentiate first";
}

LogicalResult OptimizerBuilder::run() {
  if (failed(checkGradients()))
    return failure();
  Operation *before = ret->getPrevNode();
  collectParameters();
  addResult(ret->getOperand(0), "loss", {});
  Value norm = toInvariant(globalNorm());
  addResult(norm, "grad_norm", {});
  counts = stepCounts(norm);
  addResult(counts, "applied", {});
  Value clip;
  if (hyper.clip > 0)
    clip = map(nn::Function::ClipFactor, norm,
               builder.getF64FloatAttr(hyper.clip));
  for (const Parameter &p : params)
    update(p, clip);
  if (failedToPlace)
    return failure();
  markPhase(before);
  ret->setOperands(results);
  func.setType(FunctionType::get(func.getContext(),
                                 func.getFunctionType().getInputs(),
                                 ret->getOperandTypes()));
  func.setAllResultAttrs(resultAttrs);
  func.setName("step");
  return success();
}

struct AddOptimizerPass
    : tessera::impl::AddOptimizerPassBase<AddOptimizerPass> {
  using AddOptimizerPassBase::AddOptimizerPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> found =
        nn::findProgram(getOperation(), "gradients");
    if (failed(found))
      return signalPassFailure();
    func::FuncOp func = *found;
    Hyperparameters hyper = {beta1, beta2, epsilon, weightDecay, clip};
    if (failed(OptimizerBuilder(func, hyper).run()))
      signalPassFailure();
  }
};

} // namespace
