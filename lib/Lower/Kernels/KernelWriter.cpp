//===- KernelWriter.cpp - a group of ops as one kernel function -----------===//

#include "lib/Lower/Kernels/KernelWriter.h"
#include "lib/Lower/Kernels/OpBody.h"

using namespace mlir;
using namespace tessera;

KernelWriter::KernelWriter(KernelGroup &group, OpBuilder &outer,
                           ModuleOp module)
    : group(group), outer(outer), builder(module.getContext()) {
  builder.setInsertionPointToEnd(module.getBody());
  func = func::FuncOp::create(builder, group.members.back().op->getLoc(),
                              "kernel", builder.getFunctionType({}, {}));
  func.setPrivate();
  func->setAttr(rt::RTDialect::kScheduleAttr,
                builder.getStringAttr(
                    group.schedule == KernelGroup::Row ? "row" : "column"));
  builder.setInsertionPointToStart(func.addEntryBlock());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// What an operand's factors are to the rows and columns of the op.
ViewKind KernelWriter::operandKind(const KernelMember &member,
                                   unsigned operand) {
  const KernelSpace &space = member.space;
  const std::string &letters = space.operands[operand];
  auto type = cast<RankedTensorType>(member.op->getOperand(operand).getType());
  if (readsTable(member.op, operand))
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

Value KernelWriter::startValue(Type type, double initial) {
  auto tensor = cast<RankedTensorType>(type);
  Location loc = func.getLoc();
  Value empty = tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                        tensor.getElementType());
  Value constant = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(tensor.getElementType(), initial));
  return linalg::FillOp::create(builder, loc, constant, empty).getResult(0);
}

/// A value read in cycles: an extract at row mod R'.
static Value readCycle(OpBuilder &b, Location loc, Value table, int64_t cycle) {
  Value row = linalg::IndexOp::create(b, loc, 0);
  Value size = arith::ConstantIndexOp::create(b, loc, cycle);
  Value at = arith::RemUIOp::create(b, loc, row, size);
  Value column = linalg::IndexOp::create(b, loc, 1);
  return tensor::ExtractOp::create(b, loc, table, ValueRange{at, column});
}

LogicalResult KernelWriter::emitMember(const KernelMember &member) {
  Operation *op = member.op;
  Location loc = op->getLoc();
  OpBody body(*this, member);
  body.prepare();
  unsigned reads = op->getNumOperands();
  if (lendsShape(op, reads - 1))
    --reads;
  struct Operand {
    Value constant, table;
    int64_t cycle = 0;
    int argument = -1;
  };
  SmallVector<Operand> operands(reads);
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (unsigned k = 0; k < reads; ++k) {
    if (auto constant = op->getOperand(k).getDefiningOp<nn::ConstantOp>()) {
      operands[k].constant = arith::ConstantOp::create(
          builder, loc,
          builder.getFloatAttr(constant.getElementType(),
                               constant.getValue().convertToDouble()));
      continue;
    }
    View view = operandView(member, k);
    if (view.kind == ViewKind::Table)
      continue;
    if (view.kind == ViewKind::Cycle) {
      operands[k].table = view.tensor;
      operands[k].cycle = view.cycle;
      continue;
    }
    operands[k].argument = ins.size();
    ins.push_back(view.tensor);
    maps.push_back(mapOf(view.kind, member.perRow));
  }
  ViewKind kind = resultKind(member);
  bool reduces = member.space.reduction != KernelSpace::None && !member.perRow;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  RankedTensorType type = viewType(kind, element, 0);
  Value init = reduces ? startValue(type, body.isMaximum() ? -INFINITY : 0.0)
                       : Value(tensor::EmptyOp::create(
                             builder, loc, type.getShape(), element));
  maps.push_back(mapOf(kind, member.perRow));
  SmallVector<utils::IteratorType> iterators(member.perRow ? 1 : 2,
                                             utils::IteratorType::parallel);
  if (reduces)
    iterators[member.space.reduction == KernelSpace::Columns ? 1 : 0] =
        utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      builder, loc, type, ins, init, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange args) {
        SmallVector<Value> values;
        for (const Operand &o : operands) {
          Value v = o.constant;
          if (o.argument >= 0)
            v = widen(b, loc, args[o.argument]);
          else if (o.table)
            v = widen(b, loc, readCycle(b, loc, o.table, o.cycle));
          values.push_back(v);
        }
        Value result = body.emit(b, values);
        if (reduces) {
          Value sum = widen(b, loc, args.back());
          result = body.isMaximum()
                       ? Value(arith::MaximumFOp::create(b, loc, sum, result))
                       : Value(arith::AddFOp::create(b, loc, sum, result));
        }
        linalg::YieldOp::create(b, loc, narrow(b, loc, result, element));
      });
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
