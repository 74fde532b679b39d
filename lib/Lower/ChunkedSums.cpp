//===- ChunkedSums.cpp - sums in an order that no mesh changes ------------===//

#include "lib/Lower/ChunkedSums.h"
#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

static DictionaryAttr chunkedSumsAttr(Operation *op) {
  return op->getAttrOfType<DictionaryAttr>(dist::DistDialect::kChunkedSumsAttr);
}

std::optional<SumChunks> tessera::sumChunksOf(Operation *op, StringRef letters,
                                              ArrayRef<int64_t> sizes) {
  DictionaryAttr attr = chunkedSumsAttr(op);
  if (!attr)
    return std::nullopt;
  SumChunks cut;
  if (attr.empty())
    return cut;
  NamedAttribute entry = *attr.begin();
  cut.chunks = cast<IntegerAttr>(entry.getValue()).getInt();
  size_t before = letters.find(entry.getName().strref());
  for (int64_t size : sizes.take_front(before))
    cut.outer *= size;
  return cut;
}

bool tessera::isChunkedSum(nn::EinsumOp op) {
  DictionaryAttr attr = chunkedSumsAttr(op);
  return attr && !attr.empty() && !op.isContraction();
}

namespace {

class SumBuilder {
public:
  SumBuilder(PatternRewriter &rewriter, nn::EinsumOp op)
      : op(op), b(rewriter), sig(dist::Signature::parse(op.getSpec())) {
    letters = *llvm::max_element(sig.ins, [](const auto &x, const auto &y) {
      return x.size() < y.size();
    });
  }

  /// Returns whether the contracted factors are the first or the last ones.
  bool canAdd() const {
    std::string added = contracted();
    return letters == added + sig.out || letters == sig.out + added;
  }
  rt::GemmOp run();

private:
  Value emit(const std::string &spec, ValueRange inputs, double scale);
  Value terms();
  Value ones(int64_t count);
  void addOtherFactors(char chunked);
  std::string contracted() const;
  SmallVector<int64_t> sizes(StringRef of) const;

  nn::EinsumOp op;
  PatternRewriter &b;
  dist::Signature sig;
  std::string letters; ///< Factors of `value`.
  Value value;
};

Value SumBuilder::emit(const std::string &spec, ValueRange inputs,
                       double scale) {
  auto made =
      nn::create<nn::EinsumOp>(b, op.getLoc(), b.getStringAttr(spec), inputs,
                               b.getF64FloatAttr(scale), TypeAttr());
  inheritPhase(made, op);
  return made;
}

/// Builds the scaled products that are added, over all factors.
Value SumBuilder::terms() {
  double scale = op.getScale().convertToDouble();
  if (op.getInputs().size() == 1 && scale == 1.0)
    return op.getInputs()[0];
  std::string ins = op.getSpec().split("->").first.str();
  return emit(ins + "->" + letters, op.getInputs(), scale);
}

Value SumBuilder::ones(int64_t count) {
  Type element = getElementTypeOrSelf(value.getType());
  Value one = nn::create<nn::ConstantOp>(b, op.getLoc(), b.getF64FloatAttr(1.0),
                                         TypeAttr::get(element));
  Value like = rt::ZeroOp::create(b, op.getLoc(),
                                  RankedTensorType::get({count}, element));
  return nn::create<nn::BroadcastOp>(b, op.getLoc(), b.getStringAttr(",k->k"),
                                     one, like);
}

std::string SumBuilder::contracted() const {
  std::string added;
  for (char letter : letters)
    if (!StringRef(sig.out).contains(letter))
      added += letter;
  return added;
}

SmallVector<int64_t> SumBuilder::sizes(StringRef of) const {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  SmallVector<int64_t> found;
  for (char letter : of)
    found.push_back(shape[letters.find(letter)]);
  return found;
}

/// In a sum over everything, the factors that are not cut are added first:
/// those after the factor that is cut, then those before it.
void SumBuilder::addOtherFactors(char chunked) {
  size_t at = letters.find(chunked);
  std::string front = letters.substr(0, at + 1), last(1, chunked);
  if (front != letters)
    value = emit(letters + "->" + front, value, 1.0);
  if (front != last)
    value = emit(front + "->" + last, value, 1.0);
  letters = last;
}

rt::GemmOp SumBuilder::run() {
  value = terms();
  if (sig.out.empty())
    addOtherFactors(chunkedSumsAttr(op).begin()->getName().strref()[0]);
  std::string added = contracted();
  bool byColumn = letters == added + sig.out;
  SmallVector<int64_t> each = sizes(added);
  int64_t k = llvm::product_of(each), n = llvm::product_of(sizes(sig.out));
  SumChunks cut = *sumChunksOf(op, added, each);
  auto i = [&](int64_t v) { return b.getI64IntegerAttr(v); };
  auto gemm =
      rt::GemmOp::create(b, op.getLoc(), op.getType(), ones(k), value, i(1),
                         i(n), i(k), i(k), i(byColumn ? n : k), i(n),
                         b.getBoolAttr(false), b.getBoolAttr(!byColumn));
  gemm.setChunks(cut.chunks);
  gemm.setOuter(cut.outer);
  return gemm;
}

} // namespace

LogicalResult tessera::lowerChunkedSum(PatternRewriter &rewriter,
                                       nn::EinsumOp op) {
  SumBuilder sum(rewriter, op);
  if (!sum.canAdd())
    return rewriter.notifyMatchFailure(op, [&](Diagnostic &why) {
      why << "'" << op.getSpec()
          << "' adds neither its first nor its last factors; order them so";
    });
  return replaceMarked(rewriter, op, sum.run());
}
