//===- PaddingFlow.cpp - what padding holds along a program ---------------===//

#include "lib/Distribute/PaddingFlow.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

PaddingFlow::PaddingFlow(func::FuncOp func) : mesh(meshOf(func)) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<func::FuncOp, nn::MicroBatchesOp>(op))
      return;
    size_t step = steps.size();
    steps.push_back(op);
    stepNumbers[op] = step;
    // A loop returns the sums of what its micro-batches yield.
    ResultRange results = isa<nn::YieldOp>(op) ? op->getParentOp()->getResults()
                                               : op->getResults();
    for (OpResult result : results)
      sources[result] = {step, result.getResultNumber()};
  });
}

SmallVector<int64_t> PaddingFlow::paddedDims(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dist::paddedDims(type, mesh) : SmallVector<int64_t>();
}

int64_t PaddingFlow::localElements(Value value) const {
  int64_t elements = 1;
  for (int64_t size : localShape(cast<RankedTensorType>(value.getType()), mesh))
    elements *= size;
  return elements;
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

const PaddingStep *PaddingFlow::lookUp(const Trial &trial, size_t step) const {
  auto it = trial.changed.find(step);
  if (it != trial.changed.end())
    return &it->second;
  return step < known.size() ? &known[step] : nullptr;
}

/// Arguments state what they hold in their types.
DimPaddings PaddingFlow::paddingsOf(const Trial &trial, Value value) const {
  auto source = sources.find(value);
  if (source == sources.end())
    return DimPaddings(dist::paddingsOf(value.getType()));
  return lookUp(trial, source->second.step)->results[source->second.result];
}

namespace {

/// A way to read a value: through none of its masks or through all that fill
/// alike.
struct Form {
  PaddingMasks masks;
  DimPaddings paddings;
};

SmallVector<Form> formsOf(DimPaddings plain, ArrayRef<PaddingMask> masks) {
  SmallVector<Form> forms = {{{}, plain}};
  for (Padding fill : {Padding::Zero, Padding::NegInfinity}) {
    Form form{{}, plain};
    for (const PaddingMask &mask : masks)
      if (mask.fill == fill) {
        form.masks.push_back(mask);
        form.paddings = maskedPaddings(form.paddings, mask.dim, fill);
      }
    if (!form.masks.empty())
      forms.push_back(std::move(form));
  }
  return forms;
}

/// Calls `visit` with every choice of one form per operand.
void forEachChoice(ArrayRef<SmallVector<Form>> forms,
                   llvm::function_ref<void(ArrayRef<size_t>)> visit) {
  SmallVector<size_t> choice(forms.size(), 0);
  while (true) {
    visit(choice);
    size_t k = 0;
    while (k < forms.size() && ++choice[k] == forms[k].size())
      choice[k++] = 0;
    if (k == forms.size())
      return;
  }
}

/// Smaller is better: paddings that say more, then fewer masks.
std::pair<int64_t, int64_t> scoreOf(const PaddingStep &step) {
  int64_t sum = 0, masks = 0;
  for (const DimPaddings &result : step.results)
    for (const DimPadding &p : result)
      sum += static_cast<int64_t>(p.padding);
  for (const PaddingMasks &operand : step.operands)
    masks += !operand.empty();
  return {sum, masks};
}

} // namespace

/// Passes on what a return or a yield has; returned values must be zero.
std::optional<PaddingStep> PaddingFlow::passOn(Operation *op,
                                               OperandPaddings operands) const {
  PaddingStep step;
  for (auto [k, value] : llvm::enumerate(op->getOperands())) {
    DimPaddings result;
    for (int64_t dim : paddedDims(value)) {
      result.push_back({dim, paddingIn(operands[k], dim)});
      if (isa<func::ReturnOp>(op) && result.back().padding != Padding::Zero)
        return std::nullopt;
    }
    step.results.push_back(std::move(result));
  }
  return step;
}

/// Fails where the op is refused.
std::optional<PaddingStep> PaddingFlow::judge(Operation *op,
                                              OperandPaddings operands) const {
  if (isa<func::ReturnOp, nn::YieldOp>(op))
    return passOn(op, operands);
  PaddingStep step;
  bool isTyped = isa<ConvertOp, DistributableOpInterface>(op);
  std::string why;
  for (OpResult value : op->getResults()) {
    std::optional<DimPaddings> result =
        isTyped
            ? inferPaddings(op, value.getResultNumber(), operands, mesh, why)
            : DimPaddings(dist::paddingsOf(value.getType()));
    if (!result)
      return std::nullopt;
    step.results.push_back(std::move(*result));
  }
  return step;
}

std::optional<PaddingStep> PaddingFlow::read(size_t step,
                                             const MaskSites &sites,
                                             const Trial &trial) const {
  Operation *op = steps[step];
  SmallVector<SmallVector<Form>> forms;
  for (Value operand : op->getOperands()) {
    auto masks = sites.find(operand);
    forms.push_back(formsOf(paddingsOf(trial, operand),
                            masks == sites.end()
                                ? ArrayRef<PaddingMask>()
                                : ArrayRef<PaddingMask>(masks->second)));
  }
  std::optional<PaddingStep> best;
  forEachChoice(forms, [&](ArrayRef<size_t> choice) {
    SmallVector<ArrayRef<DimPadding>> operands;
    for (auto [k, form] : llvm::enumerate(choice))
      operands.push_back(forms[k][form].paddings);
    std::optional<PaddingStep> result = judge(op, operands);
    if (!result)
      return;
    for (auto [k, form] : llvm::enumerate(choice))
      result->operands.push_back(forms[k][form].masks);
    if (!best || scoreOf(*result) < scoreOf(*best))
      best = std::move(result);
  });
  return best;
}

std::string PaddingFlow::why() const {
  Operation *op = steps[frontier()];
  SmallVector<DimPaddings> held;
  for (Value operand : op->getOperands())
    held.push_back(paddingsOf({}, operand));
  SmallVector<ArrayRef<DimPadding>> operands(held.begin(), held.end());
  std::string why = "returns padding that is not zero";
  if (isa<DistributableOpInterface>(op))
    for (unsigned r = 0; r < op->getNumResults(); ++r)
      if (!inferPaddings(op, r, operands, mesh, why))
        break;
  return why;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

void PaddingFlow::addUsers(Value value, std::set<size_t> &affected) const {
  for (Operation *user : value.getUsers())
    if (auto it = stepNumbers.find(user); it != stepNumbers.end())
      affected.insert(it->second);
}

void PaddingFlow::addReaders(size_t step, std::set<size_t> &affected) const {
  Operation *op = steps[step];
  ResultRange results =
      isa<nn::YieldOp>(op) ? op->getParentOp()->getResults() : op->getResults();
  for (Value result : results)
    addUsers(result, affected);
}

PaddingFlow::Trial PaddingFlow::attempt(const MaskSites &sites,
                                        ArrayRef<Value> changed,
                                        size_t lookahead) const {
  Trial trial;
  std::set<size_t> affected;
  for (Value value : changed)
    addUsers(value, affected);
  while (!affected.empty() && *affected.begin() < frontier()) {
    size_t step = *affected.begin();
    affected.erase(affected.begin());
    std::optional<PaddingStep> result = read(step, sites, trial);
    trial.reached = step;
    if (!result)
      return trial;
    bool isSame = result->results == known[step].results;
    trial.changed[step] = std::move(*result);
    if (!isSame)
      addReaders(step, affected);
  }
  size_t end = std::min(size(), frontier() + std::min(lookahead, size()));
  for (trial.reached = frontier(); trial.reached < end; ++trial.reached) {
    std::optional<PaddingStep> result = read(trial.reached, sites, trial);
    if (!result)
      break;
    trial.changed[trial.reached] = std::move(*result);
  }
  return trial;
}

void PaddingFlow::accept(Trial trial) {
  for (auto &[step, result] : trial.changed)
    if (step < known.size())
      known[step] = std::move(result);
    else
      known.push_back(std::move(result));
}

//===----------------------------------------------------------------------===//
// Sources of padding
//===----------------------------------------------------------------------===//

SmallVector<std::pair<Value, int64_t>>
PaddingFlow::originsOf(Value value, int64_t dim) const {
  SmallVector<std::pair<Value, int64_t>> origins;
  auto source = sources.find(value);
  if (source == sources.end())
    return origins;
  Operation *op = steps[source->second.step];
  unsigned result = source->second.result;
  auto add = [&](Value operand, int64_t place) {
    if (llvm::is_contained(paddedDims(operand), place))
      origins.push_back({operand, place});
  };
  if (isa<nn::YieldOp>(op)) {
    add(op->getOperand(result), dim);
  } else if (isa<ConvertOp>(op)) {
    add(op->getOperand(0), dim);
  } else if (auto iface = dyn_cast<DistributableOpInterface>(op)) {
    Signature sig = iface.getSignature(result);
    for (auto [k, letters] : llvm::enumerate(sig.ins))
      if (size_t place = letters.find(sig.out[dim]);
          place != std::string::npos && sig.reads(k))
        add(op->getOperand(k), place);
  }
  return origins;
}
