//===- KernelAnalysis.cpp - iteration space and domains of a kernel -------===//
// Signature, ops, sizes, and which dimension every rank-1 tensor lies along:
// read off the maps of the 2-D generics and carried to the 1-D ones.
//===----------------------------------------------------------------------===//

#include "tessera/Lower/Kernels/KernelAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;

namespace tessera {

FailureOr<Kernel> Kernel::analyze(func::FuncOp func) {
  Kernel kernel;
  kernel.func = func;
  if (failed(KernelAnalysis(kernel).run()))
    return failure();
  return kernel;
}

LogicalResult KernelAnalysis::run() {
  if (failed(checkSignature()) || failed(collectOps()) ||
      failed(findIterationSpace()) || failed(resolveDomains()) ||
      failed(checkResultDomains()) || failed(classifyBodies()))
    return failure();
  chooseTraversal();
  return success();
}

static bool isBufferElement(Type type) {
  return type.isF32() || type.isF64() || type.isBF16() || type.isInteger(32) ||
         type.isInteger(64) || type.isInteger(8);
}

static LogicalResult checkBufferType(func::FuncOp func, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() > 2 ||
      !isBufferElement(tensor.getElementType()))
    return func.emitOpError("kernel: ")
           << type << " is not a static tensor of rank 0 to 2 of f32, f64, "
           << "bf16, i32, i64 or i8";
  if (tensor.getEncoding() && !rt::hasPaddedRows(tensor))
    return func.emitOpError("kernel: ")
           << type << " has an encoding; only #rt.row_stride is known";
  return success();
}

LogicalResult KernelAnalysis::checkSignature() {
  func::FuncOp func = kernel.func;
  auto schedule = func->getAttrOfType<StringAttr>("rt.schedule");
  if (!schedule ||
      (schedule != "row" && schedule != "column" && schedule != "both"))
    return func.emitOpError("kernel: 'rt.schedule' must be \"row\", "
                            "\"column\" or \"both\"");
  if (schedule == "column")
    std::swap(kernel.outer, kernel.inner);
  kernel.reducesColumns = schedule == "both";
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitOpError("kernel: the body must be one block");
  for (Type type : func.getArgumentTypes())
    if (!type.isInteger(64) && failed(checkBufferType(func, type)))
      return failure();
  for (Type type : func.getResultTypes())
    if (failed(checkBufferType(func, type)))
      return failure();
  return success();
}

LogicalResult KernelAnalysis::collectOps() {
  for (Operation &op : kernel.func.getBody().front()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (failed(checkMaps(generic)))
        return failure();
      kernel.generics.push_back(generic);
      continue;
    }
    if (isa<linalg::FillOp, tensor::EmptyOp>(op)) {
      kernel.splats.insert(op.getResult(0));
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isa<TensorType>(constant.getType()))
        continue;
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return op.emitOpError("kernel: a tensor constant must be a splat");
      kernel.splats.insert(constant);
      continue;
    }
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      llvm::append_range(kernel.results, ret.getOperands());
      continue;
    }
    if (isa<tensor::ExtractOp>(op)) {
      if (failed(checkTable(&op)))
        return failure();
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&op) ||
        isa<TensorType>(op.getResult(0).getType()))
      return op.emitOpError("kernel: only linalg.generic, linalg.fill, "
                            "tensor.empty, constants and scalar arithmetic "
                            "are supported");
  }
  return success();
}

/// Maps must select loop dimensions in order: no transposition, no offset.
LogicalResult KernelAnalysis::checkMaps(linalg::GenericOp op) {
  if (op.getNumLoops() > 2)
    return op.emitOpError("kernel: at most two loops, (rows, columns), not ")
           << op.getNumLoops();
  if (!op.hasPureTensorSemantics())
    return op.emitOpError("kernel: operands must be tensors");
  for (AffineMap map : op.getIndexingMapsArray()) {
    bool ordered = map.isProjectedPermutation();
    for (unsigned i = 1; ordered && i < map.getNumResults(); ++i)
      ordered = map.getDimPosition(i - 1) < map.getDimPosition(i);
    if (!ordered)
      return op.emitOpError("kernel: an indexing map must be a projection "
                            "such as (d0, d1) -> (d1)");
  }
  return success();
}

LogicalResult KernelAnalysis::mergeSize(Operation *op, int64_t &size,
                                        int64_t other) {
  if (size == -1)
    size = other;
  if (size == other)
    return success();
  return op->emitOpError("kernel: all ops share one iteration space, but a "
                         "dimension has size ")
         << size << " and " << other;
}

/// The 2-D generics and results give both sizes.
LogicalResult KernelAnalysis::findIterationSpace() {
  int64_t rows = -1, cols = -1;
  auto merge = [&](Operation *op, ArrayRef<int64_t> sizes) -> LogicalResult {
    hasLine |= sizes.size() == 1;
    if (sizes.size() != 2)
      return success();
    hasPlane = true;
    return success(succeeded(mergeSize(op, rows, sizes[0])) &&
                   succeeded(mergeSize(op, cols, sizes[1])));
  };
  for (linalg::GenericOp op : kernel.generics)
    if (failed(merge(op, op.getStaticLoopRanges())))
      return failure();
  for (Value result : kernel.results)
    if (failed(merge(kernel.func,
                     cast<RankedTensorType>(result.getType()).getShape())))
      return failure();
  if (!hasPlane)
    return findLineSizes();
  kernel.rows = rows;
  kernel.cols = cols;
  return success();
}

LogicalResult KernelAnalysis::findLineSizes() {
  if (!hasLine)
    return success();
  int64_t size = -1;
  for (linalg::GenericOp op : kernel.generics)
    if (op.getNumLoops() == 1 &&
        failed(mergeSize(op, size, op.getStaticLoopRanges()[0])))
      return failure();
  for (Value result : kernel.results) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() == 1 &&
        failed(mergeSize(kernel.func, size, type.getDimSize(0))))
      return failure();
  }
  (kernel.outer == kRow ? kernel.rows : kernel.cols) = size;
  return success();
}

/// Chooses by size where no use tells; the outer dimension if both fit.
Dims KernelAnalysis::lineDomain(Value tensor) const {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(0);
  int64_t outerSize = kernel.outer == kRow ? kernel.rows : kernel.cols;
  return size == outerSize || !hasPlane ? kernel.outer : kernel.inner;
}

LogicalResult KernelAnalysis::assignDomain(linalg::GenericOp op,
                                           unsigned operand, Dims domain) {
  bool isInput = operand < op.getNumDpsInputs();
  Value values[] = {op->getOperand(operand),
                    isInput ? Value()
                            : op->getResult(operand - op.getNumDpsInputs())};
  for (Value value : values) {
    if (!value || kernel.isSplat(value))
      continue;
    auto [it, inserted] = kernel.domains.try_emplace(value, domain);
    if (!inserted && it->second != domain)
      return op.emitOpError("kernel: operand #")
             << operand << " lies along rows in one op and along columns in "
             << "another; use two kernels";
  }
  return success();
}

LogicalResult KernelAnalysis::resolveLine(linalg::GenericOp op, bool &changed) {
  Dims dim = kNone;
  for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                         llvm::to_vector(op->getResults())))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (type.getRank() == 1 && kernel.domains.contains(value))
        dim = kernel.domainOf(value);
  if (dim == kNone)
    return success();
  changed = true;
  kernel.loops[op] = {dim};
  for (auto [i, map] : llvm::enumerate(op.getIndexingMapsArray()))
    if (failed(assignDomain(op, i, map.getNumResults() ? dim : kNone)))
      return failure();
  return success();
}

/// Returns an operand (or the result of one) that lies along the only loop of
/// `op`.
static Value lineOperand(linalg::GenericOp op) {
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    if (cast<RankedTensorType>(op->getResult(i).getType()).getRank() == 1)
      return op->getResult(i);
  return *llvm::find_if(op.getDpsInputs(), [](Value input) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return type && type.getRank() == 1;
  });
}

LogicalResult KernelAnalysis::resolveDomains() {
  SmallVector<linalg::GenericOp> lines;
  for (linalg::GenericOp op : kernel.generics) {
    if (op.getNumLoops() == 1) {
      lines.push_back(op);
      continue;
    }
    if (op.getNumLoops() == 2)
      kernel.loops[op] = {kRow, kCol};
    else
      kernel.loops[op] = {};
    for (auto [i, map] : llvm::enumerate(op.getIndexingMapsArray())) {
      Dims domain = kNone;
      for (unsigned r = 0; r < map.getNumResults(); ++r)
        domain |= map.getDimPosition(r) == 0 ? kRow : kCol;
      if (failed(assignDomain(op, i, domain)))
        return failure();
    }
  }
  while (!lines.empty()) {
    bool changed = false;
    for (linalg::GenericOp op : lines)
      if (failed(resolveLine(op, changed)))
        return failure();
    llvm::erase_if(
        lines, [&](linalg::GenericOp op) { return kernel.loops.contains(op); });
    if (!changed && !lines.empty()) {
      Value tensor = lineOperand(lines.front());
      kernel.domains[tensor] = lineDomain(tensor);
    }
  }
  return success();
}

LogicalResult KernelAnalysis::checkResultDomains() {
  for (auto [i, result] : llvm::enumerate(kernel.results)) {
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    if (!kernel.domains.contains(result) && !kernel.isSplat(result))
      kernel.domains[result] = rank == 2   ? kBoth
                               : rank == 0 ? kNone
                                           : lineDomain(result);
    if (kernel.isSplat(result))
      return kernel.func.emitOpError("kernel: result #")
             << i << " is a constant; use rt.fill";
    auto op = result.getDefiningOp<linalg::GenericOp>();
    if (kernel.domainOf(result) == kernel.inner &&
        !(op && kernel.isColumnReduction(op)))
      return kernel.func.emitOpError("kernel: result #")
             << i << " lies along "
             << (kernel.inner == kCol ? "columns; use the column schedule"
                                      : "rows; use the row schedule");
  }
  return success();
}

/// A kernel is flat if it only reads elements at one place of equal shapes.
bool KernelAnalysis::isFlat() const {
  if (!hasPlane)
    return hasLine;
  if (kernel.outer != kRow)
    return false;
  for (linalg::GenericOp op : kernel.generics) {
    if (op.getNumReductionLoops())
      return false;
    for (Value operand : op->getOperands()) {
      Dims domain = kernel.domainOf(operand);
      if (domain == kRow || domain == kCol ||
          rt::hasPaddedRows(operand.getType()))
        return false;
    }
    bool usesIndex = false;
    op.walk([&](linalg::IndexOp) { usesIndex = true; });
    if (usesIndex)
      return false;
  }
  return true;
}

void KernelAnalysis::chooseTraversal() {
  kernel.traversal = isFlat()               ? Traversal::Flat
                     : kernel.outer == kRow ? Traversal::Rows
                                            : Traversal::Columns;
}

} // namespace tessera
