//===- MarkChunkedSums.cpp - which sums are added in chunks ---------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Passes.h"
#include <map>

namespace tessera {
#define GEN_PASS_DEF_MARKCHUNKEDSUMSPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

/// Letters of `nn.dims` that an axis may split: the batch, key heads, heads,
/// feed-forward, vocabulary.
constexpr StringLiteral kSplit = "bgnfv";
constexpr char kUnknown = '?';

/// A factor that an op contracts.
struct Contracted {
  char factor, dim; ///< Its letter in the op, its letter of `nn.dims`.
  int64_t size;
  int64_t ranks; ///< The ranks that share it.
};

class Marker {
public:
  explicit Marker(func::FuncOp func)
      : func(func), mesh(meshOf(func)), chunks(chunksOf(func)) {}

  LogicalResult run();

private:
  StringRef dimsOf(Value value);
  void nameArguments();
  void nameMicroBatches(nn::MicroBatchesOp loop);
  void nameResults(DistributableOpInterface op);
  SmallVector<Contracted> contracted(DistributableOpInterface op);
  LogicalResult mark(DistributableOpInterface op);
  int64_t chunksFor(int64_t size) const;

  func::FuncOp func;
  MeshAttr mesh;
  int64_t chunks;
  DenseMap<Value, std::string> dims;
};

/// Returns a letter of `nn.dims` per dimension.
StringRef Marker::dimsOf(Value value) {
  auto [it, isNew] = dims.try_emplace(value);
  if (isNew)
    it->second.assign(cast<RankedTensorType>(value.getType()).getRank(),
                      kUnknown);
  return it->second;
}

/// Names the letters of data, whose first dimension is that of micro-batches.
void Marker::nameArguments() {
  for (BlockArgument argument : func.getArguments()) {
    auto named = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   nn::NNDialect::kDimsAttr);
    if (!named)
      continue;
    size_t rank = cast<RankedTensorType>(argument.getType()).getRank();
    std::string padding(rank - std::min(rank, named.size()), kUnknown);
    dims[argument] = padding + named.str();
  }
}

void Marker::nameMicroBatches(nn::MicroBatchesOp loop) {
  for (auto [outer, inner] :
       llvm::zip(loop.getData(), loop.getBody().getArguments()))
    dims[inner] = dimsOf(outer).drop_front().str();
}

void Marker::nameResults(DistributableOpInterface op) {
  for (OpResult result : op->getResults()) {
    Signature sig = op.getSignature(result.getResultNumber());
    std::map<char, char> known;
    for (auto [operand, letters] : llvm::zip(op->getOperands(), sig.ins))
      for (auto [factor, dim] : llvm::zip(letters, dimsOf(operand)))
        if (char &found = known.try_emplace(factor, dim).first->second;
            found == kUnknown)
          found = dim;
    std::string named;
    for (char factor : sig.out)
      named += known.count(factor) ? known[factor] : kUnknown;
    dims[result] = named;
  }
}

SmallVector<Contracted> Marker::contracted(DistributableOpInterface op) {
  Signature sig = op.getSignature(0);
  SmallVector<Contracted> found;
  for (auto [k, letters] : llvm::enumerate(sig.ins)) {
    if (llvm::is_contained(sig.shapeOnly, k))
      continue;
    auto type = cast<RankedTensorType>(op->getOperand(k).getType());
    StringRef named = dimsOf(op->getOperand(k));
    for (auto [dim, factor] : llvm::enumerate(letters)) {
      bool isKept = StringRef(sig.out).contains(factor);
      bool isKnown = llvm::any_of(
          found, [&](const Contracted &c) { return c.factor == factor; });
      if (isKept || isKnown)
        continue;
      int64_t ranks = 1;
      for (StringAttr axis : axesOf(type, dim))
        ranks *= mesh.getSize(axis);
      found.push_back({factor, named[dim], type.getDimSize(dim), ranks});
    }
  }
  return found;
}

int64_t Marker::chunksFor(int64_t size) const {
  int64_t count = chunks;
  while (size % count != 0)
    count /= 2;
  return count;
}

/// Returns the op that makes a value, on whatever rank.
static Operation *sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto convert = dyn_cast_or_null<ConvertOp>(op))
    op = convert.getInput().getDefiningOp();
  return op;
}

/// Returns whether labels count, or have the largest logit: relu(1 - rank).
static bool isZeroOrOne(Value value) {
  Operation *op = sourceOf(value);
  if (isa_and_nonnull<nn::CountedOp>(op))
    return true;
  auto map = dyn_cast_or_null<nn::MapOp>(op);
  if (!map || map.getFunction() != nn::Function::Relu)
    return false;
  auto add = dyn_cast_or_null<nn::AddOp>(sourceOf(op->getOperand(0)));
  if (!add || add.getCoefs() != ArrayRef<double>{-1.0, 1.0})
    return false;
  auto one = dyn_cast_or_null<nn::ConstantOp>(sourceOf(add->getOperand(1)));
  return one && one.getValue().convertToDouble() == 1 &&
         isa_and_nonnull<nn::LabelRankOp>(sourceOf(add->getOperand(0)));
}

/// A sum of so few zeros and ones is an f32 without rounding, in any order.
static bool isExact(Operation *op, ArrayRef<Contracted> factors) {
  constexpr int64_t mostTerms = int64_t(1) << 24;
  int64_t terms = 1;
  for (const Contracted &c : factors)
    terms *= c.size;
  return isa<nn::EinsumOp>(op) && terms <= mostTerms &&
         llvm::all_of(op->getOperands(), isZeroOrOne);
}

LogicalResult Marker::mark(DistributableOpInterface op) {
  if (!op.getSignature(0).addsInChunks)
    return success();
  SmallVector<Contracted> all = contracted(op);
  if (isExact(op, all))
    return success();
  auto *chosen = llvm::find_if(
      all, [](const Contracted &c) { return kSplit.contains(c.dim); });
  NamedAttrList entry;
  Builder builder(op.getContext());
  for (const Contracted &c : all) {
    int64_t count = &c == chosen ? chunksFor(c.size) : 1;
    if (count % c.ranks != 0)
      return op->emitOpError()
             << "adds " << c.size << " of factor '" << c.factor << "' in "
             << count << " chunks, which " << c.ranks
             << " ranks cannot share; --layout-invariant needs mesh axes that "
                "divide "
             << count << ", or a size that is a multiple of "
             << std::max(chunks, c.ranks);
    if (&c == chosen)
      entry.set(StringRef(&c.factor, 1), builder.getI64IntegerAttr(count));
  }
  auto einsum = dyn_cast<nn::EinsumOp>(*op);
  if (!entry.empty() || (einsum && einsum.isContraction()))
    op->setAttr(DistDialect::kChunkedSumsAttr,
                entry.getDictionary(op.getContext()));
  return success();
}

LogicalResult Marker::run() {
  if (chunks < 1)
    return func.emitError()
           << "is in a module without '" << DistDialect::kInvariantAttr
           << "'; run nn-fix-order first";
  nameArguments();
  WalkResult walked = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<nn::MicroBatchesOp>(op))
      nameMicroBatches(loop);
    else if (auto yield = dyn_cast<nn::YieldOp>(op))
      for (auto [value, result] :
           llvm::zip(yield.getValues(), yield->getParentOp()->getResults()))
        dims[result] = dimsOf(value).str();
    else if (auto convert = dyn_cast<ConvertOp>(op))
      dims[convert.getResult()] = dimsOf(convert.getInput()).str();
    else if (auto iface = dyn_cast<DistributableOpInterface>(op)) {
      if (failed(mark(iface)))
        return WalkResult::interrupt();
      nameResults(iface);
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

struct MarkChunkedSumsPass
    : tessera::impl::MarkChunkedSumsPassBase<MarkChunkedSumsPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findWithOthers(getOperation(), "step");
    if (failed(programs))
      return signalPassFailure();
    for (func::FuncOp program : *programs)
      if (failed(Marker(program).run()))
        return signalPassFailure();
  }
};

} // namespace
