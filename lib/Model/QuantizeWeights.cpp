//===- QuantizeWeights.cpp - matrices of products in int8 -----------------===//
// Symmetric, with a scale for each output channel: w is about s q, so that
// x w = (x q) s. The scale is a factor of the result, which is why a product
// that is split along what it sums over stays a sum of partial products.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Model/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_QUANTIZEWEIGHTSPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using dist::Signature;

namespace {

/// A parameter as its readers see it.
struct Matrix {
  BlockArgument argument;
  StringAttr name, dims;
  SmallVector<nn::EinsumOp> products;
  SmallVector<nn::ExpertLinearOp> experts;
  SmallVector<nn::EmbeddingOp> lookups;
  SmallVector<int64_t> channels; ///< Its dimensions that no product sums over.
};

/// Returns the type in which scales for a type are held and multiplied.
Type scaleType(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

/// Returns the dimensions of `operand` that the product's result has.
SmallVector<int64_t> channelsOf(nn::EinsumOp product, unsigned operand) {
  Signature sig = Signature::parse(product.getSpec());
  SmallVector<int64_t> channels;
  for (auto [dim, letter] : llvm::enumerate(sig.ins[operand]))
    if (StringRef(sig.out).contains(letter))
      channels.push_back(dim);
  return channels;
}

/// Returns whether a product makes what experts are chosen by: a choice has no
/// bound.
bool choosesExperts(nn::EinsumOp product) {
  return llvm::any_of(product.getOutput().getUsers(),
                      [](Operation *user) { return isa<nn::TopKOp>(user); });
}

/// Returns whether all readers of a parameter are products and lookups that
/// leave the same channels; fills in what the parameter's name does not say.
bool findReaders(Matrix &matrix) {
  bool isFirst = true;
  auto agrees = [&](ArrayRef<int64_t> channels) {
    if (isFirst)
      matrix.channels.assign(channels.begin(), channels.end());
    isFirst = false;
    return ArrayRef<int64_t>(matrix.channels) == channels;
  };
  for (OpOperand &use : matrix.argument.getUses()) {
    auto product = dyn_cast<nn::EinsumOp>(use.getOwner());
    auto experts = dyn_cast<nn::ExpertLinearOp>(use.getOwner());
    auto lookup = dyn_cast<nn::EmbeddingOp>(use.getOwner());
    if (product && product.isContraction() && !choosesExperts(product)) {
      if (!agrees(channelsOf(product, use.getOperandNumber())))
        return false;
      matrix.products.push_back(product);
    } else if (experts && use.get() == experts.getWeight() &&
               agrees({0, experts.getTransposed() ? 2 : 1})) {
      matrix.experts.push_back(experts);
    } else if (lookup && agrees({0})) {
      matrix.lookups.push_back(lookup);
    } else {
      return false;
    }
  }
  return !matrix.products.empty() || !matrix.experts.empty();
}

struct QuantizeWeightsPass
    : tessera::impl::QuantizeWeightsPassBase<QuantizeWeightsPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findSerialLoss(getOperation());
    if (failed(loss))
      return signalPassFailure();
    for (Matrix &matrix : matricesOf(*loss))
      quantize(*loss, matrix);
    loss->setType(FunctionType::get(&getContext(),
                                    loss->getBody().front().getArgumentTypes(),
                                    loss->getResultTypes()));
  }

  static std::vector<Matrix> matricesOf(func::FuncOp func);
  void quantize(func::FuncOp func, Matrix &matrix);
  BlockArgument addScale(func::FuncOp func, const Matrix &matrix, Type element);
  void scaleProduct(nn::EinsumOp product, const Matrix &matrix, Value scale);
  void scaleRows(nn::EmbeddingOp lookup, const Matrix &matrix, Value scale);
};

std::vector<Matrix> QuantizeWeightsPass::matricesOf(func::FuncOp func) {
  std::vector<Matrix> found;
  for (BlockArgument argument : func.getArguments()) {
    unsigned k = argument.getArgNumber();
    Matrix matrix{
        argument,
        func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr),
        func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kDimsAttr),
        {},
        {},
        {},
        {}};
    if (matrix.name && matrix.dims && findReaders(matrix))
      found.push_back(std::move(matrix));
  }
  return found;
}

void QuantizeWeightsPass::quantize(func::FuncOp func, Matrix &matrix) {
  auto type = cast<RankedTensorType>(matrix.argument.getType());
  Type element = scaleType(type.getElementType());
  Value scale = addScale(func, matrix, element);
  matrix.argument.setType(type.clone(IntegerType::get(&getContext(), 8)));
  for (nn::EinsumOp product : matrix.products)
    scaleProduct(product, matrix, scale);
  for (nn::ExpertLinearOp experts : matrix.experts)
    experts.getScalesMutable().assign(scale);
  for (nn::EmbeddingOp lookup : matrix.lookups)
    scaleRows(lookup, matrix, scale);
}

BlockArgument QuantizeWeightsPass::addScale(func::FuncOp func,
                                            const Matrix &matrix,
                                            Type element) {
  Builder b(&getContext());
  ArrayRef<int64_t> whole =
      cast<RankedTensorType>(matrix.argument.getType()).getShape();
  SmallVector<int64_t> shape;
  std::string dims;
  for (int64_t dim : matrix.channels) {
    shape.push_back(whole[dim]);
    dims += matrix.dims.getValue()[dim];
  }
  NamedAttrList attrs;
  attrs.set(nn::NNDialect::kParamAttr,
            b.getStringAttr(matrix.name.getValue() + "_scale"));
  attrs.set(nn::kScaleOfAttr, matrix.name);
  attrs.set(nn::NNDialect::kDimsAttr, b.getStringAttr(dims));
  attrs.set(nn::kChannelsAttr, b.getDenseI64ArrayAttr(matrix.channels));
  unsigned index = func.getNumArguments();
  (void)func.insertArgument(index, RankedTensorType::get(shape, element),
                            attrs.getDictionary(&getContext()), func.getLoc());
  return func.getArgument(index);
}

/// x w -> (x q) s, rounded after the scale.
void QuantizeWeightsPass::scaleProduct(nn::EinsumOp product,
                                       const Matrix &matrix, Value scale) {
  Signature sig = Signature::parse(product.getSpec());
  unsigned operand = product.getInputs()[0] == matrix.argument ? 0 : 1;
  std::string letters;
  for (int64_t dim : matrix.channels)
    letters += sig.ins[operand][dim];
  OpBuilder builder(product);
  builder.setInsertionPointAfter(product);
  Value result = product.getOutput();
  Type rounded = getElementTypeOrSelf(result.getType());
  product.setElementType(getElementTypeOrSelf(scale.getType()));
  result.setType(cast<RankedTensorType>(result.getType())
                     .clone(*product.getElementType()));
  auto scaled = nn::create<nn::EinsumOp>(
      builder, product.getLoc(),
      builder.getStringAttr(sig.out + "," + letters + "->" + sig.out),
      ValueRange{result, scale}, builder.getF64FloatAttr(1.0),
      TypeAttr::get(rounded));
  scaled->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  product->setDiscardableAttrs(DictionaryAttr::get(&getContext()));
  result.replaceAllUsesExcept(scaled.getOutput(), scaled);
}

/// A row of the table is its integers times the scale that is looked up.
void QuantizeWeightsPass::scaleRows(nn::EmbeddingOp lookup,
                                    const Matrix &matrix, Value scale) {
  OpBuilder builder(lookup);
  builder.setInsertionPointAfter(lookup);
  Value rows = lookup.getOutput();
  auto type = cast<RankedTensorType>(rows.getType());
  rows.setType(type.clone(IntegerType::get(&getContext(), 8)));
  Location loc = lookup.getLoc();
  auto wide = nn::create<nn::CastOp>(
      builder, loc, rows, TypeAttr::get(getElementTypeOrSelf(scale.getType())));
  auto scales = nn::create<nn::EmbeddingOp>(builder, loc, lookup.getIds(),
                                            scale, IntegerAttr());
  auto scaled = nn::create<nn::EinsumOp>(
      builder, loc, builder.getStringAttr("bsh,bs->bsh"),
      ValueRange{wide.getOutput(), scales.getOutput()},
      builder.getF64FloatAttr(1.0), TypeAttr::get(type.getElementType()));
  scaled->setDiscardableAttrs(lookup->getDiscardableAttrDictionary());
  lookup->setDiscardableAttrs(DictionaryAttr::get(&getContext()));
  rows.replaceAllUsesExcept(scaled.getOutput(), wide);
}

} // namespace
