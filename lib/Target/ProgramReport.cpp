//===- ProgramReport.cpp - what a lowered program does, in numbers --------===//

#include "lib/Target/ProgramReport.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Options/PlanOptions.h"
#include "tessera/Target/MetadataJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

/// "h.3.mlp" -> 3; -1 if no component is a number.
static int64_t layerOf(StringRef name) {
  while (!name.empty()) {
    auto [component, rest] = name.split('.');
    int64_t layer;
    if (!component.getAsInteger(10, layer))
      return layer;
    name = rest;
  }
  return -1;
}

static int64_t timesOf(Operation *op) {
  int64_t times = 1;
  for (auto loop = op->getParentOfType<rt::LoopOp>(); loop;
       loop = loop->getParentOfType<rt::LoopOp>())
    times *= static_cast<int64_t>(loop.getCount());
  return times;
}

static int64_t flopsOf(Operation *op) {
  auto cost = dyn_cast<nn::CostOpInterface>(op);
  return cost ? cost.getFlops() : 0;
}

/// The window of a call that is started and waited for later: by number, the
/// calls from it to its wait. `ops` are those of the report's calls.
static void noteWindows(ProgramReport &report, ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [number, op] : llvm::enumerate(ops))
    numbers[op] = static_cast<int64_t>(number);
  for (auto [record, op] : llvm::zip(report.calls, ops)) {
    auto start = dyn_cast<rt::AsyncOpInterface>(op);
    if (start && start.getAsync())
      record.wait = numbers.lookup(*start->user_begin());
  }
}

/// Whether an exchange by gates sends every row, as a GPU does: who is routed
/// is not known where messages get their sizes.
static bool sendsAllRows(func::FuncOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto options = module->getAttrOfType<DictionaryAttr>(rt::kOptionsAttr);
  auto target =
      options ? options.getAs<DictionaryAttr>("target") : DictionaryAttr();
  auto device = target ? target.getAs<StringAttr>("device") : StringAttr();
  return device && device == nameOf(DeviceKind::Cuda);
}

static int64_t bytesOfAll(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    if (isa<RankedTensorType>(value.getType()))
      bytes += rt::bytesOf(value);
  return bytes;
}

/// Whether a kernel takes single elements of an argument, by index.
static bool isTable(func::FuncOp kernel, unsigned argument) {
  if (!kernel || kernel.isExternal() || argument >= kernel.getNumArguments())
    return false;
  BlockArgument table = kernel.getArgument(argument);
  return !table.use_empty() && llvm::all_of(table.getUsers(), [](auto *user) {
    return isa<tensor::ExtractOp>(user);
  });
}

/// CallRecord::functions.
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

/// Operands and results, each once; of a table as much as there are results.
static int64_t bytesMovedBy(rt::LaunchOp launch, func::FuncOp kernel) {
  int64_t results = bytesOfAll(launch->getResults()), bytes = results;
  for (auto [index, value] : llvm::enumerate(launch.getInputs())) {
    int64_t whole = rt::bytesOf(value);
    bytes += isTable(kernel, index) ? std::min(whole, results) : whole;
  }
  return bytes;
}

/// Of a call that is neither a product nor a collective.
static int64_t bytesMovedBy(Operation *op, const SymbolTable &kernels) {
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    return bytesMovedBy(launch,
                        kernels.lookup<func::FuncOp>(launch.getKernel()));
  // Each row of the source is read, and one of the table read and written.
  if (auto scatter = dyn_cast<rt::ScatterAddOp>(op))
    return 3 * rt::bytesOf(scatter.getSource());
  return bytesOfAll(op->getOperands()) + bytesOfAll(op->getResults());
}

/// Returns the product of one expert, where each gets the same number of rows.
static SmallVector<int64_t, 3> shapeOf(rt::RoutedOp op) {
  if (flopsOf(op) == 0)
    return {};
  auto shape = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  bool isProduct = op.getKind() == rt::RoutedKind::Product;
  Value other = isProduct ? op.getResult() : op.getInputs()[1];
  int64_t in = shape(op.getInputs()[0]).back(), out = shape(other).back();
  int64_t tokens = llvm::product_of(shape(op.getInputs().back()).drop_back());
  int64_t rows = std::max<int64_t>(tokens * op.getK() / op.getTotal(), 1);
  if (isProduct)
    return {rows, out, in};
  return {in, out, rows};
}

/// CallRecord::shape.
static SmallVector<int64_t, 3> shapeOf(Operation *op) {
  if (auto gemm = dyn_cast<rt::GemmOp>(op))
    return {static_cast<int64_t>(gemm.getM()),
            static_cast<int64_t>(gemm.getN()),
            static_cast<int64_t>(gemm.getK())};
  auto attentionShape = [](Value query, Value key) {
    auto type = cast<RankedTensorType>(query.getType());
    int64_t size = type.getShape().back();
    return SmallVector<int64_t, 3>{
        type.getNumElements() / size,
        cast<RankedTensorType>(key.getType()).getDimSize(1), size};
  };
  return llvm::TypeSwitch<Operation *, SmallVector<int64_t, 3>>(op)
      .Case<rt::AttentionOp, rt::AttentionGradOp, rt::RingAttentionOp,
            rt::RingAttentionGradOp>([&](auto attention) {
        return attentionShape(attention.getQuery(), attention.getKey());
      })
      .Case([](rt::RoutedOp routed) { return shapeOf(routed); })
      .Default([](Operation *) { return SmallVector<int64_t, 3>(); });
}

/// CallRecord::resultBytes. A sum of an operand reads all of it once more.
static int64_t resultBytesOf(Operation *op) {
  auto gemm = dyn_cast<rt::GemmOp>(op);
  if (!gemm)
    return 0;
  int64_t bytes = bytesOfAll(gemm->getResults());
  for (Value read : {gemm.getAccumulator(), gemm.getGeluInput()})
    bytes += read ? rt::bytesOf(read) : 0;
  if (auto sums = gemm.getSumsOf())
    bytes +=
        rt::bytesOf(*sums == rt::GemmOperand::A ? gemm.getA() : gemm.getB());
  return bytes;
}

static StringRef transposedOf(Operation *op) {
  auto gemm = dyn_cast<rt::GemmOp>(op);
  if (!gemm)
    return "";
  if (gemm.getTransA())
    return gemm.getTransB() ? "ab" : "a";
  return gemm.getTransB() ? "b" : "";
}

/// Returns a bucket's members, whether they lie side by side or not.
static int64_t tensorsOf(rt::CollectiveOpInterface op) {
  auto reduce = dyn_cast<rt::AllReduceOp>(op.getOperation());
  if (auto bucket = reduce ? reduce.getInput().getDefiningOp<rt::ConcatOp>()
                           : rt::ConcatOp())
    return static_cast<int64_t>(bucket.getParts().size());
  return static_cast<int64_t>(op.getWholes().size());
}

static CallRecord recordOf(Operation *op, bool sendsAllRows,
                           const SymbolTable &kernels) {
  CallRecord record;
  record.op = op->getName().stripDialect();
  record.name = nn::partOf(op->getLoc());
  record.phase = nn::phaseOf(op);
  record.layer = layerOf(record.name);
  record.times = timesOf(op);
  record.flops = flopsOf(op);
  record.shape = shapeOf(op);
  record.resultBytes = resultBytesOf(op);
  record.transposed = transposedOf(op);
  if (auto routed = dyn_cast<rt::RoutedOp>(op); routed && record.flops > 0)
    record.experts = cast<RankedTensorType>(routed.getInputs().back().getType())
                         .getShape()
                         .back();
  if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
    record.kernel = launch.getKernel();
    record.functions =
        functionsOf(kernels.lookup<func::FuncOp>(launch.getKernel()));
  }
  if (!isa<rt::AsyncOpInterface, rt::WaitOp>(op) && record.shape.empty())
    record.bytes = bytesMovedBy(op, kernels);
  if (auto collective = dyn_cast<rt::CollectiveOpInterface>(op)) {
    for (auto axis : collective.getAxes().getAsRange<StringAttr>())
      record.axes.push_back(axis.getValue());
    for (Value whole : collective.getWholes()) {
      record.elements +=
          cast<RankedTensorType>(whole.getType()).getNumElements();
      record.bytes += rt::bytesOf(whole);
    }
    // An even share goes in the first round.
    if (auto exchange = dyn_cast<rt::ExchangeRowsOp>(op);
        exchange && exchange.getRound() > 1)
      record.elements = record.bytes = 0;
    record.tensors = tensorsOf(collective);
    record.collective = collective.getCollective();
    // An exchange by gates sends the rows of k of all experts.
    auto share = op->getAttrOfType<DenseI64ArrayAttr>("share");
    if (share && !sendsAllRows) {
      record.elements = record.elements / share[1] * share[0];
      record.bytes = record.bytes / share[1] * share[0];
    }
  }
  if (auto broadcast = dyn_cast<rt::BroadcastOp>(op))
    record.isRoot = !!broadcast.getInput();
  if (auto axis = op->getAttrOfType<StringAttr>("axis")) {
    record.peer = op->getAttrOfType<IntegerAttr>("peer").getInt();
    Value moved = isa<rt::SendOp>(op) ? op->getOperand(0) : op->getResult(0);
    record.axes.push_back(axis.getValue());
    record.elements = cast<RankedTensorType>(moved.getType()).getNumElements();
    record.bytes = rt::bytesOf(moved);
    if (isa<rt::SendOp>(op)) // a receive sends nothing
      record.collective = dist::Collective::Send;
  }
  if (auto reason = op->getAttrOfType<StringAttr>("reason"))
    record.reason = reason;
  if (sendsAllRows && op->hasAttr("share"))
    record.reason = "rows of experts, all of them";
  return record;
}

static void addCall(ProgramReport &report, const CallRecord &call,
                    dist::MeshAttr mesh) {
  int64_t flops = call.flops * call.times;
  switch (call.phase) {
  case nn::Phase::Forward:
    report.forwardFlops += flops;
    break;
  case nn::Phase::Backward:
    report.backwardFlops += flops;
    break;
  case nn::Phase::Recompute:
    report.recomputeFlops += flops;
    break;
  case nn::Phase::Optimizer:
    report.optimizerFlops += flops;
    break;
  }
  report.launches += call.op == "launch" ? call.times : 0;
  report.gemms += call.op == "gemm" ? call.times : 0;
  if (call.axes.empty())
    return;
  Traffic &traffic = report.traffic[llvm::join(call.axes, ",")];
  int64_t ranks = 1;
  for (StringRef axis : call.axes)
    ranks *= mesh ? mesh.getSize(axis) : 1;
  traffic.calls += call.times;
  traffic.elements += call.times * call.elements;
  traffic.bytes += call.times * call.bytes;
  traffic.ringBytes += static_cast<double>(call.times * call.bytes) *
                       dist::ringShare(call.collective, ranks);
  int64_t peers = call.op == "send"                       ? 1
                  : call.op == "broadcast" && call.isRoot ? ranks - 1
                                                          : 0;
  traffic.sent += call.times * call.bytes * peers;
  if (call.op == "receive" || (call.op == "broadcast" && !call.isRoot))
    traffic.received += call.times * call.bytes;
}

/// Keys that the first `queries` of a causal sequence see: query i sees i + 1,
/// but at most those of a window.
static double keysSeen(double queries, double window) {
  double cut = std::min(queries, window);
  return cut * (cut + 1) / 2 + (queries - cut) * window;
}

/// Later slices are more work, unless a window is short. In a zigzag a rank has
/// an early and a late slice. Layers may differ; the first one counts.
static void addCausalWork(ProgramReport &report, Operation *op) {
  auto total = op->getAttrOfType<IntegerAttr>("queries_total");
  auto attention = op->getAttrOfType<nn::AttentionAttr>("attention");
  if (!total || !attention || !report.causalWork.empty())
    return;
  nn::AttentionMask mask = attention.getMask();
  if (!mask.causal)
    return;
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  double slice = static_cast<double>(type.getDimSize(1));
  double all = static_cast<double>(total.getInt());
  double window = mask.window ? static_cast<double>(mask.window) : all;
  for (double start = 0; start + slice <= all; start += slice)
    report.causalWork.push_back(
        (keysSeen(start + slice, window) - keysSeen(start, window)) /
        keysSeen(all, window));
  Value queries = op->getOperand(0);
  if (auto view = queries.getDefiningOp<rt::ViewOp>())
    queries = view.getSource();
  if (!queries.getDefiningOp<rt::ZigzagOp>())
    return;
  std::vector<double> &work = report.causalWork;
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

static void addTokens(ProgramReport &report, func::FuncOp step) {
  for (BlockArgument argument : step.getArguments()) {
    auto data = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::NNDialect::kDataAttr);
    if (data && data == "ids")
      report.tokens = wholeTypeOf(step, argument).getNumElements();
  }
}

void tessera::countParameters(ArrayRef<func::FuncOp> programs,
                              ProgramReport &report) {
  llvm::DenseSet<Attribute> counted;
  for (func::FuncOp program : programs)
    for (BlockArgument argument : program.getArguments()) {
      unsigned index = argument.getArgNumber();
      Attribute name = program.getArgAttr(index, nn::NNDialect::kParamAttr);
      bool isScale = !!program.getArgAttr(index, nn::kChannelsAttr);
      if (!name || isScale || !counted.insert(name).second)
        continue;
      auto local = cast<RankedTensorType>(argument.getType());
      report.parameters += wholeTypeOf(program, argument).getNumElements();
      report.parametersPerRank += local.getNumElements();
    }
}

ProgramReport tessera::reportProgram(func::FuncOp step, dist::MeshAttr mesh) {
  ProgramReport report;
  llvm::StringSet<> kernels;
  SmallVector<Operation *> ops;
  const bool allRows = sendsAllRows(step);
  SymbolTable symbols(step->getParentOfType<ModuleOp>());
  step.getBody().walk<WalkOrder::PreOrder>([&](rt::RuntimeCallOpInterface op) {
    ops.push_back(op);
    report.calls.push_back(recordOf(op, allRows, symbols));
    addCall(report, report.calls.back(), mesh);
    addCausalWork(report, op);
    if (!report.calls.back().kernel.empty())
      kernels.insert(report.calls.back().kernel);
  });
  noteWindows(report, ops);
  report.kernels = kernels.size();
  addTokens(report, step);
  return report;
}
