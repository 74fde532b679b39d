//===- ProgramReport.cpp - what a lowered program does, in numbers --------===//

#include "lib/Target/ProgramReport.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Options/PlanOptions.h"
#include "tessera/Program/ProgramJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tessera;
using program::Call;
using program::CallKind;

/// Returns whether an exchange by gates sends every row, as a GPU does: who is
/// routed is not known where messages get their sizes.
static bool sendsAllRows(func::FuncOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto options = module->getAttrOfType<DictionaryAttr>(rt::kOptionsAttr);
  auto target =
      options ? options.getAs<DictionaryAttr>("target") : DictionaryAttr();
  auto device = target ? target.getAs<StringAttr>("device") : StringAttr();
  return device && device == nameOf(DeviceKind::Cuda);
}

/// Returns whether a kernel takes single elements of an argument, by index.
static bool isTable(func::FuncOp kernel, unsigned argument) {
  if (!kernel || kernel.isExternal() || argument >= kernel.getNumArguments())
    return false;
  BlockArgument table = kernel.getArgument(argument);
  return !table.use_empty() && llvm::all_of(table.getUsers(), [](auto *user) {
    return isa<tensor::ExtractOp>(user);
  });
}

/// program::Call::functions.
static int64_t functionsOf(func::FuncOp kernel) {
  int64_t functions = 0;
  if (kernel)
    kernel.walk([&](linalg::GenericOp loops) {
      int64_t elements = 1;
      for (int64_t size : loops.getStaticLoopRanges())
        elements *= size;
      for (Operation &op : *loops.getBody())
        if (isa<math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp>(op))
          functions += elements;
    });
  return functions;
}

namespace {

/// Describes the calls of a program.
class CallDescriber {
public:
  explicit CallDescriber(func::FuncOp step)
      : sendsAll(sendsAllRows(step)),
        symbols(step->getParentOfType<ModuleOp>()) {
    step.getBody().walk<WalkOrder::PreOrder>(
        [&](rt::RuntimeCallOpInterface op) {
          numbers[op] = static_cast<int64_t>(numbers.size());
        });
  }

  Call describe(rt::RuntimeCallOpInterface op);
  size_t kernels() const { return functions.size(); }

private:
  void addKernel(rt::LaunchOp launch, Call &call);
  void addShare(Operation *op, Call &call) const;

  bool sendsAll;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::StringMap<int64_t> functions; ///< A launch evaluates so many.
};

} // namespace

/// A kernel reads as much of a table as it makes results.
void CallDescriber::addKernel(rt::LaunchOp launch, Call &call) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  auto [known, isNew] = functions.try_emplace(launch.getKernel(), 0);
  if (isNew)
    known->second = functionsOf(kernel);
  call.functions = known->second;
  int64_t results = 0;
  for (Value result : launch->getResults())
    results += rt::bytesOf(result);
  for (auto [index, value] : llvm::enumerate(launch.getInputs()))
    if (isTable(kernel, index))
      call.bytes -= std::max<int64_t>(rt::bytesOf(value) - results, 0);
}

/// An exchange by gates sends the rows of k of all experts.
void CallDescriber::addShare(Operation *op, Call &call) const {
  auto share = op->getAttrOfType<DenseI64ArrayAttr>("share");
  if (share && sendsAll)
    call.reason = "rows of experts, all of them";
  if (!share || sendsAll)
    return;
  call.elements = call.elements / share[1] * share[0];
  call.bytes = call.bytes / share[1] * share[0];
}

Call CallDescriber::describe(rt::RuntimeCallOpInterface op) {
  Call call;
  op.describe(call);
  program::classify(call);
  if (auto launch = dyn_cast<rt::LaunchOp>(op.getOperation()))
    addKernel(launch, call);
  addShare(op, call);
  if (call.axes.empty())
    call.reason.clear();
  auto start = dyn_cast<rt::AsyncOpInterface>(op.getOperation());
  if (start && start.getAsync())
    call.wait = numbers.lookup(*start->user_begin());
  return call;
}

static void addFlops(program::Flops &flops, const Call &call) {
  int64_t added = call.flops * call.times;
  switch (call.phase) {
  case program::Phase::Forward:
    flops.forward += added;
    break;
  case program::Phase::Backward:
    flops.backward += added;
    break;
  case program::Phase::Recompute:
    flops.recompute += added;
    break;
  case program::Phase::Optimizer:
    flops.optimizer += added;
    break;
  }
}

static void addTraffic(program::Traffic &traffic, const Call &call,
                       int64_t ranks) {
  int64_t bytes = call.times * call.bytes;
  traffic.calls += call.times;
  traffic.elements += call.times * call.elements;
  traffic.bytes += bytes;
  traffic.ringBytes +=
      static_cast<double>(bytes) * program::ringShare(call.collective, ranks);
  bool isBroadcast = call.collective == program::Collective::Broadcast;
  if (call.kind == CallKind::Send)
    traffic.sent += bytes;
  if (isBroadcast && call.isRoot)
    traffic.sent += bytes * (ranks - 1);
  if (call.kind == CallKind::Receive || (isBroadcast && !call.isRoot))
    traffic.received += bytes;
}

static void addCall(program::Totals &totals, const Call &call,
                    dist::MeshAttr mesh) {
  addFlops(totals.flopsOfRank, call);
  totals.launches += call.kernel.empty() ? 0 : call.times;
  bool isGemm = call.kind == CallKind::Product && call.experts == 0;
  totals.gemms += isGemm ? call.times : 0;
  if (call.axes.empty())
    return;
  int64_t ranks = 1;
  for (StringRef axis : call.axes)
    ranks *= mesh ? mesh.getSize(axis) : 1;
  addTraffic(totals.traffic[llvm::join(call.axes, ",")], call, ranks);
}

/// Keys that the first `queries` of a causal sequence see: query i sees i + 1,
/// but at most those of a window.
static double keysSeen(double queries, double window) {
  double cut = std::min(queries, window);
  return cut * (cut + 1) / 2 + (queries - cut) * window;
}

/// Later slices are more work, unless a window is short. In a zigzag a rank has
/// an early and a late slice. Layers may differ; the first one counts.
static void addCausalWork(program::Totals &totals, Operation *op) {
  auto total = op->getAttrOfType<IntegerAttr>("queries_total");
  auto attention = op->getAttrOfType<nn::AttentionAttr>("attention");
  if (!total || !attention || !totals.causalWork.empty())
    return;
  nn::AttentionMask mask = attention.getMask();
  if (!mask.causal)
    return;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  double slice = static_cast<double>(type.getDimSize(1));
  double all = static_cast<double>(total.getInt());
  double window = mask.window ? static_cast<double>(mask.window) : all;
  for (double start = 0; start + slice <= all; start += slice)
    totals.causalWork.push_back(
        (keysSeen(start + slice, window) - keysSeen(start, window)) /
        keysSeen(all, window));
  Value queries = op->getOperand(0);
  if (auto view = queries.getDefiningOp<rt::ViewOp>())
    queries = view.getSource();
  if (!queries.getDefiningOp<rt::ZigzagOp>())
    return;
  std::vector<double> &work = totals.causalWork;
  size_t ranks = work.size() / 2;
  for (size_t rank = 0; rank < ranks; ++rank)
    work[rank] += work[work.size() - 1 - rank];
  work.resize(ranks);
}

/// Returns the whole argument of which a rank has a part.
static RankedTensorType wholeTypeOf(func::FuncOp step, BlockArgument argument) {
  auto global = step.getArgAttrOfType<TypeAttr>(argument.getArgNumber(),
                                                rt::RTDialect::kGlobalAttr);
  return cast<RankedTensorType>(global ? global.getValue()
                                       : argument.getType());
}

static void addTokens(program::Totals &totals, func::FuncOp step) {
  for (BlockArgument argument : step.getArguments()) {
    auto data = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::NNDialect::kDataAttr);
    if (data && data == "ids")
      totals.tokens = wholeTypeOf(step, argument).getNumElements();
  }
}

void tessera::countParameters(ArrayRef<func::FuncOp> programs,
                              program::Totals &totals) {
  llvm::DenseSet<Attribute> counted;
  for (func::FuncOp program : programs)
    for (BlockArgument argument : program.getArguments()) {
      unsigned index = argument.getArgNumber();
      Attribute name = program.getArgAttr(index, nn::NNDialect::kParamAttr);
      bool isScale = !!program.getArgAttr(index, nn::kChannelsAttr);
      if (!name || isScale || !counted.insert(name).second)
        continue;
      auto local = cast<RankedTensorType>(argument.getType());
      totals.parameters += wholeTypeOf(program, argument).getNumElements();
      totals.parametersOfRank += local.getNumElements();
    }
}

program::Totals tessera::reportProgram(func::FuncOp step, dist::MeshAttr mesh,
                                       std::optional<int64_t> stage,
                                       std::string &calls) {
  program::Totals totals;
  CallDescriber describer(step);
  llvm::raw_string_ostream stream(calls);
  step.getBody().walk<WalkOrder::PreOrder>([&](rt::RuntimeCallOpInterface op) {
    Call call = describer.describe(op);
    call.stage = stage;
    stream << (calls.empty() ? "" : ",");
    llvm::json::OStream out(stream);
    out.object([&] { program::writeCall(out, call); });
    addCall(totals, call, mesh);
    addCausalWork(totals, op);
  });
  totals.kernels = static_cast<int64_t>(describer.kernels());
  addTokens(totals, step);
  return totals;
}
