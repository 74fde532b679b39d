//===- KernelWriter.cpp - a group of ops as one kernel function -----------===//

#include "lib/Lower/Kernels/KernelWriter.h"
#include "lib/Lower/Kernels/KernelMath.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Partition/Factors.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

static StringRef scheduleName(KernelGroup::Schedule schedule) {
  switch (schedule) {
  case KernelGroup::Row:
    return "row";
  case KernelGroup::Column:
    return "column";
  case KernelGroup::Both:
    return "both";
  }
  llvm_unreachable("all schedules are handled");
}

KernelWriter::KernelWriter(KernelGroup &group, OpBuilder &outer,
                           ModuleOp module)
    : group(group), outer(outer), builder(module.getContext()) {
  builder.setInsertionPointToEnd(module.getBody());
  func = func::FuncOp::create(builder, group.members.back().op->getLoc(),
                              "kernel", builder.getFunctionType({}, {}));
  func.setPrivate();
  func->setAttr(rt::RTDialect::kScheduleAttr,
                builder.getStringAttr(scheduleName(group.schedule)));
  builder.setInsertionPointToStart(func.addEntryBlock());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Returns how an operand's factors fit the rows and columns of the op.
ViewKind KernelWriter::operandKind(const KernelMember &member,
                                   unsigned operand) {
  const KernelSpace &space = member.space;
  const std::string &letters = space.operands[operand].factors;
  auto type = cast<RankedTensorType>(member.op->getOperand(operand).getType());
  if (space.operands[operand].access == KernelOperand::Table)
    return ViewKind::Table;
  if (member.perRow)
    return type.getNumElements() == group.rows &&
                   (group.rows > 1 || !letters.empty() || type.getRank() == 0)
               ? ViewKind::Row
               : ViewKind::Scalar;
  if (letters.size() == space.factors.size())
    return ViewKind::Full;
  if (letters.empty())
    return ViewKind::Scalar;
  if (StringRef(space.factors).starts_with(letters))
    return ViewKind::Row;
  return type.getNumElements() == group.columns ? ViewKind::Column
                                                : ViewKind::Cycle;
}

ViewKind KernelWriter::resultKind(const KernelMember &member) {
  if (member.perRow)
    return ViewKind::Row;
  switch (member.space.reduction) {
  case KernelSpace::None:
    return ViewKind::Full;
  case KernelSpace::Columns:
    return ViewKind::Row;
  case KernelSpace::Rows:
    return ViewKind::Column;
  }
  llvm_unreachable("all reductions are handled");
}

RankedTensorType KernelWriter::viewType(ViewKind kind, Type element,
                                        int64_t cycle) {
  switch (kind) {
  case ViewKind::Full:
    return RankedTensorType::get({group.rows, group.columns}, element);
  case ViewKind::Row:
    return RankedTensorType::get({group.rows}, element);
  case ViewKind::Column:
    return RankedTensorType::get({group.columns}, element);
  case ViewKind::Scalar:
    return RankedTensorType::get({}, element);
  case ViewKind::Table:
  case ViewKind::Cycle:
    return RankedTensorType::get({cycle, group.columns}, element);
  }
  llvm_unreachable("all kinds are handled");
}

KernelWriter::View KernelWriter::argument(Value value, ViewKind kind,
                                          int64_t cycle) {
  View &view = views[{value.getAsOpaquePointer(), static_cast<int>(kind)}];
  if (view.tensor)
    return view;
  Type type = viewType(kind, getElementTypeOrSelf(value.getType()), cycle);
  // Tensors come before scalars.
  Block &block = func.getBody().front();
  view = {block.insertArgument(inputs.size(), type, value.getLoc()), kind,
          cycle};
  inputs.push_back(value);
  return view;
}

Value KernelWriter::scalar(Value value) {
  Value &known = scalarArguments[value];
  if (!known) {
    known = func.getBody().front().addArgument(builder.getI64Type(),
                                               value.getLoc());
    scalars.push_back(value);
  }
  return known;
}

KernelWriter::View KernelWriter::operandView(const KernelMember &member,
                                             unsigned operand) {
  Value value = member.op->getOperand(operand);
  if (auto it = made.find(value); it != made.end())
    return it->second;
  ViewKind kind = operandKind(member, operand);
  auto type = cast<RankedTensorType>(value.getType());
  return argument(value, kind, type.getNumElements() / group.columns);
}

AffineMap KernelWriter::mapOf(ViewKind kind, bool perRow) {
  MLIRContext *ctx = builder.getContext();
  unsigned dims = perRow ? 1 : 2;
  AffineExpr row = getAffineDimExpr(0, ctx), column = getAffineDimExpr(1, ctx);
  switch (kind) {
  case ViewKind::Full:
    return AffineMap::get(dims, 0, {row, column}, ctx);
  case ViewKind::Row:
    return AffineMap::get(dims, 0, {row}, ctx);
  case ViewKind::Column:
    return AffineMap::get(dims, 0, {column}, ctx);
  default:
    return AffineMap::get(dims, 0, {}, ctx);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The part of the kernel that the body of a member may use.
class KernelWriter::Scope : public KernelScope {
public:
  Scope(KernelWriter &writer, const KernelMember &member)
      : writer(writer), member(member) {}

  OpBuilder &host() override { return writer.outer; }
  Value scalar(Value value) override { return writer.scalar(value); }
  Value table(unsigned operand) override {
    return writer.operandView(member, operand).tensor;
  }
  const KernelSpace &space() const override { return member.space; }
  int64_t columns() const override { return writer.group.columns; }
  Value localIndex(OpBuilder &body, unsigned factor) override {
    return indexAlong(body, member.op->getLoc(), member.space.sizes,
                      member.perRow ? 1 : columns(), factor);
  }

private:
  KernelWriter &writer;
  const KernelMember &member;
};

/// Returns the value that the reduction of a space starts from.
static double neutralElement(const KernelSpace &space) {
  return space.combiner == KernelSpace::Maximum ? -INFINITY : 0.0;
}

/// Returns the tensor that a reduction starts from; any memory for other ops.
Value KernelWriter::initialValue(const KernelSpace &space,
                                 RankedTensorType type, bool reduces) {
  Location loc = func.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  if (!reduces)
    return empty;
  Value constant = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(type.getElementType(), neutralElement(space)));
  return linalg::FillOp::create(builder, loc, constant, empty).getResult(0);
}

/// Returns a value read in cycles: an extract at row mod R'.
static Value readCycle(OpBuilder &b, Location loc, Value table, int64_t cycle) {
  Value row = linalg::IndexOp::create(b, loc, 0);
  Value size = arith::ConstantIndexOp::create(b, loc, cycle);
  Value at = arith::RemUIOp::create(b, loc, row, size);
  Value column = linalg::IndexOp::create(b, loc, 1);
  return tensor::ExtractOp::create(b, loc, table, ValueRange{at, column});
}

SmallVector<KernelWriter::Operand>
KernelWriter::readOperands(const KernelMember &member,
                           SmallVectorImpl<Value> &ins,
                           SmallVectorImpl<AffineMap> &maps) {
  Operation *op = member.op;
  SmallVector<Operand> operands(op->getNumOperands());
  for (auto [k, operand] : llvm::enumerate(operands)) {
    if (member.space.operands[k].access != KernelOperand::Element)
      continue;
    if (auto constant = op->getOperand(k).getDefiningOp<nn::ConstantOp>()) {
      operand.constant = arith::ConstantOp::create(
          builder, op->getLoc(),
          builder.getFloatAttr(constant.getElementType(),
                               constant.getValue().convertToDouble()));
      continue;
    }
    View view = operandView(member, k);
    if (view.kind == ViewKind::Cycle) {
      operand.table = view.tensor;
      operand.cycle = view.cycle;
      continue;
    }
    operand.argument = ins.size();
    ins.push_back(view.tensor);
    maps.push_back(mapOf(view.kind, member.perRow));
  }
  return operands;
}

/// Returns the operands of a body, widened for computing.
SmallVector<Value> KernelWriter::scalarsOf(OpBuilder &b, Location loc,
                                           ArrayRef<Operand> operands,
                                           ValueRange arguments) {
  SmallVector<Value> scalars;
  for (const Operand &operand : operands) {
    Value value = operand.constant;
    if (operand.argument >= 0)
      value = widen(b, loc, arguments[operand.argument]);
    else if (operand.table)
      value = widen(b, loc, readCycle(b, loc, operand.table, operand.cycle));
    scalars.push_back(value);
  }
  return scalars;
}

static Value combine(OpBuilder &b, Location loc, const KernelSpace &space,
                     Value accumulator, Value element) {
  if (space.combiner == KernelSpace::Maximum)
    return arith::MaximumFOp::create(b, loc, accumulator, element);
  return arith::AddFOp::create(b, loc, accumulator, element);
}

LogicalResult KernelWriter::emitMember(const KernelMember &member) {
  auto op = cast<KernelOpInterface>(member.op);
  Location loc = op.getLoc();
  const KernelSpace &space = member.space;
  Scope scope(*this, member);
  FailureOr<ElementBody> body = op.buildElementBody(scope);
  if (failed(body))
    return failure();
  if (!*body)
    return op->emitOpError()
           << "has no lowering to the runtime: it has no body for kernels";
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  SmallVector<Operand> operands = readOperands(member, ins, maps);
  ViewKind kind = resultKind(member);
  bool reduces = space.reduction != KernelSpace::None && !member.perRow;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  RankedTensorType type = viewType(kind, element, 0);
  Value init = initialValue(space, type, reduces);
  maps.push_back(mapOf(kind, member.perRow));
  SmallVector<utils::IteratorType> iterators(member.perRow ? 1 : 2,
                                             utils::IteratorType::parallel);
  if (reduces)
    iterators[space.reduction == KernelSpace::Columns ? 1 : 0] =
        utils::IteratorType::reduction;
  auto build = [&](OpBuilder &b, Location, ValueRange args) {
    Value result = (*body)(b, scalarsOf(b, loc, operands, args));
    if (reduces)
      result = combine(b, loc, space, widen(b, loc, args.back()), result);
    linalg::YieldOp::create(b, loc, narrow(b, loc, result, element));
  };
  auto generic = linalg::GenericOp::create(builder, loc, type, ins, init, maps,
                                           iterators, build);
  made[op->getResult(0)] = {generic.getResult(0), kind, 0};
  return success();
}

/// Values that something outside of the group reads, or verify compares.
void KernelWriter::findOutputs() {
  DenseSet<Operation *> members;
  for (const KernelMember &member : group.members)
    members.insert(member.op);
  for (const KernelMember &member : group.members) {
    Value result = member.op->getResult(0);
    bool outside = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !members.contains(user);
    });
    if (outside || member.op->hasAttr(rt::RTDialect::kKeepAttr))
      outputs.push_back(result);
  }
}

LogicalResult KernelWriter::emit() {
  for (const KernelMember &member : group.members)
    if (failed(emitMember(member)))
      return failure();
  findOutputs();
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(made[output].tensor);
  func::ReturnOp::create(builder, func.getLoc(), results);
  func.setType(builder.getFunctionType(
      func.getBody().front().getArgumentTypes(), ValueRange(results)));
  return success();
}
