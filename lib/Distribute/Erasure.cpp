//===- Erasure.cpp - is the parallel program the serial one? --------------===//

#include "tessera/Distribute/Erasure.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/MeshAxis.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera;

namespace {

std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "'" << op->getName() << "'";
  if (StringRef part = nn::partOf(op->getLoc()); !part.empty())
    stream << " of " << part;
  return text;
}

/// Compares two programs op by op, with a map from the values of one to the
/// values of the other.
class Comparison {
public:
  std::string blocks(Block &left, Block &right);

private:
  std::string ops(Operation &left, Operation &right);

  DenseMap<Value, Value> same;
};

std::string Comparison::ops(Operation &left, Operation &right) {
  if (left.getName() != right.getName())
    return describe(&left) + " stands where the serial program has " +
           describe(&right);
  if (left.getAttrDictionary() != right.getAttrDictionary() ||
      left.getPropertiesAsAttribute() != right.getPropertiesAsAttribute())
    return describe(&left) + " has other attributes than in the serial program";
  if (left.getResultTypes() != right.getResultTypes())
    return describe(&left) + " has another type than in the serial program";
  if (left.getNumOperands() != right.getNumOperands())
    return describe(&left) + " has another number of operands";
  for (auto [a, b] : llvm::zip(left.getOperands(), right.getOperands()))
    if (same.lookup(a) != b)
      return describe(&left) +
             " reads another value than in the serial program";
  for (auto [a, b] : llvm::zip(left.getResults(), right.getResults()))
    same[a] = b;
  for (auto [a, b] : llvm::zip(left.getRegions(), right.getRegions()))
    if (std::string why = blocks(a.front(), b.front()); !why.empty())
      return why;
  return "";
}

std::string Comparison::blocks(Block &left, Block &right) {
  if (left.getNumArguments() != right.getNumArguments())
    return "the programs have " + std::to_string(left.getNumArguments()) +
           " and " + std::to_string(right.getNumArguments()) + " inputs";
  for (auto [a, b] : llvm::zip(left.getArguments(), right.getArguments())) {
    if (a.getType() != b.getType())
      return "input " + std::to_string(a.getArgNumber()) +
             " has another type than in the serial program";
    same[a] = b;
  }
  auto l = left.begin(), r = right.begin();
  for (; l != left.end() && r != right.end(); ++l, ++r)
    if (std::string why = ops(*l, *r); !why.empty())
      return why;
  if (l != left.end() || r != right.end())
    return "one of the programs goes on with " +
           describe(l != left.end() ? &*l : &*r);
  return "";
}

} // namespace

//===----------------------------------------------------------------------===//
// Sums of gradients without their order
//===----------------------------------------------------------------------===//
// Stages that share a value each add up the gradients of their uses, then the
// stages' sums are added. The serial program adds one use after the other.

namespace {

/// Returns whether only another such sum reads the op.
bool isTerm(Operation *op) {
  return op->hasOneUse() && nn::isGradientSum(*op->user_begin()) &&
         (*op->user_begin())->getBlock() == op->getBlock();
}

/// Collects the terms of a sum and the sums that it is made of, itself last.
void collect(nn::AddOp sum, SmallVector<Value> &terms,
             SmallVector<Operation *> &sums) {
  SmallVector<std::pair<nn::AddOp, unsigned>> path = {{sum, 0}};
  while (!path.empty()) {
    auto &[op, next] = path.back();
    if (next == op->getNumOperands()) {
      sums.push_back(op);
      path.pop_back();
      continue;
    }
    Value term = op->getOperand(next++);
    Operation *made = term.getDefiningOp();
    if (nn::isGradientSum(made) && isTerm(made))
      path.push_back({cast<nn::AddOp>(made), 0});
    else
      terms.push_back(term);
  }
}

/// Orders arguments of the block and values from outside of it first.
bool isMadeBefore(Value a, Value b, Block *block) {
  auto here = [&](Value v) {
    return v.getDefiningOp() && v.getParentBlock() == block;
  };
  if (!here(a) || !here(b))
    return !here(a) && here(b);
  return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
}

void order(nn::AddOp sum) {
  SmallVector<Value> terms;
  SmallVector<Operation *> sums;
  collect(sum, terms, sums);
  Block *block = sum->getBlock();
  llvm::stable_sort(
      terms, [&](Value a, Value b) { return isMadeBefore(a, b, block); });
  Operation *last = terms.back().getDefiningOp();
  OpBuilder builder(sum);
  if (last && last->getBlock() == block)
    builder.setInsertionPointAfter(last);
  std::string out = dist::Signature::parse(sum.getSpec()).out, spec = out;
  for (size_t k = 1; k < terms.size(); ++k)
    spec += "," + out;
  auto ordered = nn::create<nn::AddOp>(builder, sum.getLoc(),
                                       builder.getStringAttr(spec + "->" + out),
                                       terms, DenseF64ArrayAttr());
  ordered->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
  sum.getOutput().replaceAllUsesWith(ordered.getOutput());
  for (Operation *op : llvm::reverse(sums))
    op->erase();
}

} // namespace

/// add(add(a, b), c), add(a, add(b, c)), ... of gradients -> add(a, b, c),
/// terms in the order in which they are made, as soon as all are.
static void orderSums(func::FuncOp func) {
  SmallVector<nn::AddOp> sums;
  func.walk([&](nn::AddOp op) {
    if (nn::isGradientSum(op) && !isTerm(op))
      sums.push_back(op);
  });
  for (nn::AddOp sum : sums)
    order(sum);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

std::string tessera::compareErased(ModuleOp parallel, ModuleOp serial,
                                   StringRef name) {
  OwningOpRef<ModuleOp> copy = parallel.clone();
  PassManager manager(copy->getContext());
  manager.enableVerifier(false);
  manager.addPass(createErasePass());
  if (failed(manager.run(*copy)))
    return "the program cannot be erased";
  auto left = copy->lookupSymbol<func::FuncOp>(name);
  auto right = serial.lookupSymbol<func::FuncOp>(name);
  if (!left || !right)
    return "there is no function @" + name.str();
  std::string why =
      Comparison().blocks(left.getBody().front(), right.getBody().front());
  dist::MeshAttr mesh = dist::meshOf(parallel);
  if (why.empty() || !mesh || mesh.getSize(kPipelineAxis) == 1)
    return why;
  // Stages first add their own gradients of the values that they share.
  OwningOpRef<ModuleOp> ordered = serial.clone();
  right = ordered->lookupSymbol<func::FuncOp>(name);
  orderSums(left);
  orderSums(right);
  bool isSame = Comparison()
                    .blocks(left.getBody().front(), right.getBody().front())
                    .empty();
  return isSame ? "" : why;
}

//===----------------------------------------------------------------------===//
// Typing anew
//===----------------------------------------------------------------------===//

static LogicalResult retypeConversion(dist::ConvertOp op, dist::State to) {
  dist::State from = op.getFrom();
  const dist::ConversionRow *row = dist::findConversion(from, to);
  if (!row || row->kind != op.getKind())
    return op.emitOpError()
           << "has no conversion " << from.str() << " -> " << to.str()
           << " that is called '" << dist::stringifyConversionKind(op.getKind())
           << "'";
  auto type = dist::withState(cast<RankedTensorType>(op.getInput().getType()),
                              op.getAxis(), to);
  if (std::string why = dist::checkLevels(type); !why.empty())
    return op.emitOpError() << why;
  op.getOutput().setType(type);
  op.getOutput().setType(op.convertedType());
  return success();
}

static LogicalResult retypeBlock(Block &block) {
  for (Operation &op : block) {
    if (auto convert = dyn_cast<dist::ConvertOp>(op)) {
      if (failed(retypeConversion(convert, convert.getTo())))
        return failure();
    } else if (isa<dist::DistributableOpInterface>(op)) {
      if (failed(dist::setResultTypes(&op)))
        return failure();
    } else if (auto loop = dyn_cast<nn::MicroBatchesOp>(op)) {
      if (failed(retypeBlock(loop.getBody().front())))
        return failure();
      Operation *yield = loop.getBody().front().getTerminator();
      for (auto [result, value] :
           llvm::zip(loop.getResults(), yield->getOperands()))
        result.setType(value.getType());
      // A micro-batch must be a slice of the data as it is now.
      if (failed(loop.verify()))
        return failure();
    }
  }
  return success();
}

LogicalResult tessera::retype(func::FuncOp func) {
  if (failed(retypeBlock(func.getBody().front())))
    return failure();
  Operation *ret = func.getBody().front().getTerminator();
  for (auto [k, type] : llvm::enumerate(func.getResultTypes()))
    if (!dist::isWithin(ret->getOperand(k).getType(), type))
      return func.emitError() << "result " << k << " must be " << type
                              << ", but is " << ret->getOperand(k).getType();
  return success();
}
