//===- LoweredMutants.cpp - changes of the program of one rank ------------===//
// Below the types: the scalars that tell a rank where it is.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Partition/Factors.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// One leaf of a scalar's expression, replaced.
struct ScalarChange {
  enum Kind {
    CoordinateIsZero,
    OtherCoordinate,
    FirstMicroBatch,
    FirstStep,
    OtherStream,
    KeyOfRank
  };
  Kind kind;
  std::string axis, other;

  std::string row() const;
  /// Returns the value that replaces `leaf`; null if it stays.
  Value replace(OpBuilder &builder, Value leaf) const;
};

std::string ScalarChange::row() const {
  switch (kind) {
  case CoordinateIsZero:
    return "local index for a global one";
  case OtherCoordinate:
    return "coordinate of another axis";
  case FirstMicroBatch:
    return "index of the first micro-batch";
  case FirstStep:
    return "dropout: key of the first step";
  case OtherStream:
    return "dropout: key of another stream";
  case KeyOfRank:
    return "dropout: key that depends on the rank";
  }
  return "";
}

/// Returns whether a leaf is the number of a micro-batch in a loop of several,
/// or that of a later one outside of loops, times its sequences.
bool isMicroBatch(Value leaf) {
  if (auto argument = dyn_cast<BlockArgument>(leaf)) {
    auto loop = dyn_cast<rt::LoopOp>(argument.getOwner()->getParentOp());
    return loop && loop.getCount() > 1;
  }
  auto rows = leaf.getDefiningOp<arith::MulIOp>();
  return rows && getConstantIntValue(rows.getLhs()).value_or(0) > 0 &&
         getConstantIntValue(rows.getRhs());
}

Value ScalarChange::replace(OpBuilder &b, Value leaf) const {
  Location loc = leaf.getLoc();
  auto coordinate = [&](const std::string &axis) -> Value {
    return rt::CoordOp::create(b, loc, b.getI64Type(), b.getStringAttr(axis));
  };
  auto coord = leaf.getDefiningOp<rt::CoordOp>();
  if (coord && coord.getAxis() == axis && kind == CoordinateIsZero)
    return i64(b, loc, 0);
  if (coord && coord.getAxis() == axis && kind == OtherCoordinate)
    return coordinate(other);
  if (kind == FirstMicroBatch && isMicroBatch(leaf))
    return i64(b, loc, 0);
  if (leaf.getDefiningOp<rt::StepOp>() && kind == FirstStep)
    return i64(b, loc, 0);
  auto key = leaf.getDefiningOp<rt::StreamKeyOp>();
  if (!key || (kind != OtherStream && kind != KeyOfRank))
    return {};
  Value seed = key.getSeed();
  if (kind == KeyOfRank)
    seed = arith::AddIOp::create(b, loc, seed, coordinate(axis));
  int64_t stream = key.getStream() + (kind == OtherStream ? 2 : 0);
  return rt::StreamKeyOp::create(b, loc, b.getI64Type(), seed, key.getStep(),
                                 b.getI64IntegerAttr(stream));
}

/// Returns the expression of a scalar once more, before its reader, with a
/// change.
Value rebuild(OpBuilder &b, Value value, const ScalarChange &change) {
  if (Value other = change.replace(b, value))
    return other;
  Operation *op = value.getDefiningOp();
  if (!op)
    return value;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, rebuild(b, operand, change));
  return b.clone(*op, operands)->getResult(0);
}

/// Collects everything that a scalar depends on.
void slice(Value value, llvm::SetVector<Value> &values) {
  if (!values.insert(value))
    return;
  if (Operation *op = value.getDefiningOp())
    for (Value operand : op->getOperands())
      slice(operand, values);
}

std::vector<ScalarChange> changesOf(Value scalar, ArrayRef<StringAttr> axes) {
  llvm::SetVector<Value> values;
  slice(scalar, values);
  std::vector<ScalarChange> changes;
  for (Value value : values) {
    if (auto coord = value.getDefiningOp<rt::CoordOp>()) {
      std::string own = coord.getAxis().str();
      changes.push_back({ScalarChange::CoordinateIsZero, own, ""});
      for (StringAttr axis : axes)
        if (axis != coord.getAxisAttr())
          changes.push_back({ScalarChange::OtherCoordinate, own, axis.str()});
    } else if (isMicroBatch(value)) {
      changes.push_back({ScalarChange::FirstMicroBatch, "", ""});
    } else if (value.getDefiningOp<rt::StepOp>()) {
      changes.push_back({ScalarChange::FirstStep, "", ""});
    } else if (value.getDefiningOp<rt::StreamKeyOp>()) {
      changes.push_back({ScalarChange::OtherStream, "", ""});
      for (StringAttr axis : axes)
        changes.push_back({ScalarChange::KeyOfRank, axis.str(), ""});
    }
  }
  return changes;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

class LoweredEnumeration {
public:
  explicit LoweredEnumeration(ModuleOp program)
      : program(program), axes(dist::meshOf(program).getAxes()) {}
  Mutants run();

private:
  void scalars(Operation *op, unsigned number);
  void attentionStream(Operation *op, unsigned number);
  void loopCount(rt::LoopOp loop, unsigned number);
  void dataOf(rt::ViewOp view, unsigned number);
  Mutant &add(const std::string &kind, const std::string &what,
              std::function<void(ModuleOp)> apply) {
    mutants.push_back(
        {Stage::Lowered, kind, what, "", "", true, std::move(apply)});
    return mutants.back();
  }

  ModuleOp program;
  ArrayRef<StringAttr> axes;
  Mutants mutants;
};

/// The number of valid elements of a slice (validOf) is the only minimum.
bool isValidCount(Value scalar) {
  llvm::SetVector<Value> values;
  slice(scalar, values);
  return llvm::any_of(values, [](Value value) {
    return value.getDefiningOp<arith::MinSIOp>() != nullptr;
  });
}

/// Reads or writes rows of a table, of which only the last shards have padding.
bool looksUp(Operation *op) {
  auto launch = dyn_cast<rt::LaunchOp>(op);
  return isa<rt::ScatterAddOp>(op) ||
         (launch && launch.getKernel().contains("embedding"));
}

/// Returns why it does not matter to an op that it takes padding for elements,
/// if it does not; "": it matters.
const char *whyMore(Operation *op) {
  if (isa<rt::TopOp>(op))
    return kNoCandidate;
  return looksUp(op) || isa<rt::PenalizeOp>(op) ? kNothingInPadding : "";
}

/// Returns whether a kernel masks logits, and then the exponentials of what
/// that left.
bool masksTwice(Operation *op) {
  auto launch = dyn_cast<rt::LaunchOp>(op);
  return launch && launch.getKernel().count("_mask") > 1 &&
         launch.getKernel().contains("_map_mask");
}

/// Returns why an op may be wrong about what is padding.
std::string whyRight(Operation *op, Value scalar, const ScalarChange &change) {
  bool isCoordinate = change.kind == ScalarChange::KeyOfRank ||
                      change.kind == ScalarChange::CoordinateIsZero;
  if (isCoordinate && isFirstAlong(op, change.axis))
    return kFirstStage;
  if (!isValidCount(scalar))
    return "";
  auto launch = dyn_cast<rt::LaunchOp>(op);
  StringRef kernel = launch ? launch.getKernel() : "";
  if (kernel.contains("max"))
    return kShiftCancels;
  bool takesMore = change.kind == ScalarChange::CoordinateIsZero ||
                   (change.kind == ScalarChange::OtherCoordinate &&
                    isFirstAlong(op, change.other));
  return takesMore ? whyMore(op) : "";
}

void LoweredEnumeration::scalars(Operation *op, unsigned number) {
  size_t first = mutants.size();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!operand.get().getType().isInteger(64))
      continue;
    unsigned index = operand.getOperandNumber();
    for (const ScalarChange &change : changesOf(operand.get(), axes)) {
      add(change.row(),
          describe(op) + ", operand " + std::to_string(index) + " " +
              change.axis + " " + change.other,
          [=](ModuleOp module) {
            Operation *op = opsOf(module)[number];
            OpBuilder builder(op);
            op->setOperand(index,
                           rebuild(builder, op->getOperand(index), change));
          })
          .right = whyRight(op, operand.get(), change);
      // Coordinates of a shorter axis may be those of shards without padding.
      if (change.kind == ScalarChange::OtherCoordinate &&
          isValidCount(operand.get()))
        mutants.back().mayBeRight = whyMore(op);
      if (masksTwice(op) && isValidCount(operand.get()))
        mutants.back().mayBeRight = kNoCandidate;
    }
  }
  if (!needsPlace(op))
    for (size_t k = first; k < mutants.size(); ++k)
      mutants[k].mayBeRight = kNoDropout;
}

/// Attention makes its own keys.
void LoweredEnumeration::attentionStream(Operation *op, unsigned number) {
  int64_t stream = op->getAttrOfType<IntegerAttr>("stream").getInt() + 2;
  ScalarChange change{ScalarChange::OtherStream, "", ""};
  add(change.row(), describe(op), [=](ModuleOp module) {
    opsOf(module)[number]->setAttr(
        "stream", Builder(module.getContext()).getI64IntegerAttr(stream));
  }).mayBeRight = needsPlace(op) ? "" : kNoDropout;
}

void LoweredEnumeration::loopCount(rt::LoopOp loop, unsigned number) {
  int64_t count = static_cast<int64_t>(loop.getCount());
  int64_t other = count > 1 ? count - 1 : 2;
  add(count > 1 ? "micro-batch left out" : "micro-batch added twice",
      describe(loop), [=](ModuleOp module) {
        cast<rt::LoopOp>(opsOf(module)[number]).setCount(other);
      });
}

/// Reads a later micro-batch outside of loops.
void LoweredEnumeration::dataOf(rt::ViewOp view, unsigned number) {
  auto data = dyn_cast<BlockArgument>(view.getSource());
  auto func = view->getParentOfType<func::FuncOp>();
  if (!data || data.getParentRegion() != &func.getBody() ||
      !func.getArgAttr(data.getArgNumber(), nn::NNDialect::kDataAttr) ||
      view.getIndex() || view.getOffset() == 0)
    return;
  add("data of the first micro-batch", describe(view), [=](ModuleOp module) {
    cast<rt::ViewOp>(opsOf(module)[number]).setOffset(0);
  });
}

Mutants LoweredEnumeration::run() {
  for (auto [number, op] : llvm::enumerate(opsOf(program))) {
    if (isa<rt::RuntimeCallOpInterface, rt::ViewOp>(op))
      scalars(op, number);
    if (auto loop = dyn_cast<rt::LoopOp>(op))
      loopCount(loop, number);
    if (auto view = dyn_cast<rt::ViewOp>(op))
      dataOf(view, number);
    if (isa<rt::AttentionOp, rt::AttentionGradOp>(op))
      attentionStream(op, number);
  }
  return std::move(mutants);
}

} // namespace

Mutants test::loweredMutants(ModuleOp lowered) {
  return LoweredEnumeration(lowered).run();
}
