//===- ProgramBuilder.cpp - what all model families build with ------------===//

#include "lib/Import/ProgramBuilder.h"
#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// Returns the special tokens with the mask, within a vocabulary that may have
/// been shrunk.
static DenseI64ArrayAttr specialTokens(Builder &b, SpecialTokens special,
                                       int64_t mask, int64_t vocabulary) {
  SpecialTokens kept;
  addSpecial(kept, mask);
  for (int64_t id : special)
    addSpecial(kept, std::min(id, vocabulary - 1));
  return b.getDenseI64ArrayAttr(kept);
}

void ProgramBuilder::begin(const ModelSizes &model) {
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  SmallVector<NamedAttribute> attrs = {
      b.getNamedAttr("family", b.getStringAttr(model.family)),
      number("layers", model.layers),
      number("vocabulary", model.vocabulary),
      number("sequence", sizes.sequence),
      number("batch", sizes.batch),
      number("micro_batches", sizes.microBatches)};
  if (model.maskToken)
    attrs.push_back(number("mask_token", *model.maskToken));
  if (model.maskToken && sizes.special)
    attrs.push_back(b.getNamedAttr(
        "special_tokens",
        specialTokens(b, *sizes.special, *model.maskToken, model.vocabulary)));
  if (model.tokenTypes)
    attrs.push_back(number("token_types", *model.tokenTypes));
  if (model.target)
    attrs.append({number("target", *model.target),
                  number("start_token", *model.startToken),
                  number("pad_token", *model.padToken),
                  number("encoder_layers", *model.encoderLayers)});
  if (sizes.ignoresLabels)
    attrs.push_back(number("ignores_labels", 1));
  // A vocabulary that is made small keeps them.
  if (sizes.separator)
    attrs.push_back(
        number("separator", std::min(*sizes.separator, model.vocabulary - 1)));
  if (sizes.padding)
    attrs.push_back(
        number("padding", std::min(*sizes.padding, model.vocabulary - 1)));
  // Errors of a whole program concern options beside the file, so those of the
  // module and the function point at no line of it.
  Location nowhere = b.getUnknownLoc();
  module = ModuleOp::create(nowhere);
  (*module)->setAttr(nn::NNDialect::kModelAttr, b.getDictionaryAttr(attrs));
  b.setInsertionPointToEnd(module->getBody());
  func = func::FuncOp::create(b, nowhere, "loss", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(func.addEntryBlock());
}

OwningOpRef<ModuleOp> ProgramBuilder::finish(Value loss) {
  func::ReturnOp::create(b, loc, loss);
  func.setType(b.getFunctionType(func.getBody().front().getArgumentTypes(),
                                 loss.getType()));
  func.setAllArgAttrs(b.getArrayAttr(arguments));
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

DictionaryAttr ProgramBuilder::normal(double std) {
  return b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr("normal")),
       b.getNamedAttr("mean", b.getF64FloatAttr(0.0)),
       b.getNamedAttr("std", b.getF64FloatAttr(std)),
       b.getNamedAttr("stream", b.getI64IntegerAttr(2 * parameters))});
}

DictionaryAttr ProgramBuilder::normalRows(double std,
                                          std::optional<int64_t> padding,
                                          int64_t columns) {
  NamedAttrList init(normal(std));
  if (padding)
    init.set("zeros",
             b.getI64ArrayAttr({*padding * columns, (*padding + 1) * columns}));
  return init.getDictionary(b.getContext());
}

DictionaryAttr ProgramBuilder::constant(StringRef kind) {
  return b.getDictionaryAttr(b.getNamedAttr("kind", b.getStringAttr(kind)));
}

Value ProgramBuilder::argument(unsigned index, Type type, NamedAttrList attrs) {
  arguments.insert(arguments.begin() + index,
                   attrs.getDictionary(b.getContext()));
  return func.getBody().front().insertArgument(index, type, loc);
}

Value ProgramBuilder::parameter(const Weight &weight) {
  ++parameters;
  auto type = RankedTensorType::get(weight.shape, sizes.elementType);
  ArrayRef<int64_t> fileShape =
      weight.fileShape.empty() ? weight.shape : weight.fileShape;
  NamedAttrList attrs;
  attrs.set(nn::NNDialect::kParamAttr, b.getStringAttr(weight.name));
  attrs.set(nn::NNDialect::kDimsAttr, b.getStringAttr(weight.dims));
  attrs.set(nn::NNDialect::kInitAttr, weight.init);
  attrs.set(nn::NNDialect::kFileShapeAttr, b.getI64ArrayAttr(fileShape));
  if (weight.decays)
    attrs.set(nn::NNDialect::kDecayAttr, b.getUnitAttr());
  return argument(arguments.size() - dataArguments - tables, type, attrs);
}

Value ProgramBuilder::outputLogits(Value x, Value embeddings, bool isTied,
                                   double std) {
  Value w = embeddings;
  if (!isTied) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(embeddings.getType()).getShape();
    w = parameter(
        {"lm_head.weight", "vh", {shape[0], shape[1]}, {}, normal(std), true});
  }
  return einsum("bsh,vh->bsv", {x, w});
}

Value ProgramBuilder::table(StringRef name, StringRef dims,
                            ArrayRef<int64_t> shape, DictionaryAttr init) {
  NamedAttrList attrs;
  attrs.set(nn::NNDialect::kTableAttr, b.getStringAttr(name));
  attrs.set(nn::NNDialect::kDimsAttr, b.getStringAttr(dims));
  attrs.set(nn::NNDialect::kInitAttr, init);
  auto type = RankedTensorType::get(shape, sizes.elementType);
  Value value = argument(arguments.size() - dataArguments, type, attrs);
  ++tables;
  return value;
}

Value ProgramBuilder::data(StringRef name, int64_t length) {
  auto type = RankedTensorType::get(
      {sizes.batch / sizes.microBatches, length ? length : sizes.sequence},
      b.getI32Type());
  NamedAttrList attrs;
  attrs.set(nn::NNDialect::kDataAttr, b.getStringAttr(name));
  attrs.set(nn::NNDialect::kDimsAttr, b.getStringAttr("bs"));
  ++dataArguments;
  return argument(arguments.size(), type, attrs);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value ProgramBuilder::einsum(StringRef spec, ValueRange inputs, double scale) {
  return nn::create<nn::EinsumOp>(b, loc, b.getStringAttr(spec), inputs,
                                  b.getF64FloatAttr(scale), TypeAttr());
}

Value ProgramBuilder::add(StringRef spec, ValueRange inputs,
                          ArrayRef<double> coefs) {
  return nn::create<nn::AddOp>(b, loc, b.getStringAttr(spec), inputs,
                               coefs.empty() ? DenseF64ArrayAttr()
                                             : b.getDenseF64ArrayAttr(coefs));
}

Value ProgramBuilder::map(nn::Function function, Value x) {
  return nn::create<nn::MapOp>(
      b, loc, nn::FunctionAttr::get(b.getContext(), function), x, FloatAttr());
}

Value ProgramBuilder::number(double value) {
  return nn::create<nn::ConstantOp>(b, loc, b.getF64FloatAttr(value),
                                    TypeAttr::get(sizes.elementType));
}

Value ProgramBuilder::widened(Value x) {
  if (!sizes.elementType.isF32())
    return x;
  return nn::create<nn::CastOp>(b, loc, x, TypeAttr::get(sizes.elementType));
}

Value ProgramBuilder::lookup(Value ids, Value table,
                             std::optional<int64_t> padding) {
  return nn::create<nn::EmbeddingOp>(b, loc, ids, table,
                                     padding ? b.getI64IntegerAttr(*padding)
                                             : IntegerAttr());
}

Value ProgramBuilder::counted(Value labels) {
  return nn::create<nn::CountedOp>(
      b, loc, labels, TypeAttr::get(sizes.elementType), IntegerAttr());
}

/// The stream is consumed even where nothing is dropped.
Value ProgramBuilder::dropout(Value x, double p) {
  int64_t stream = dropoutStream();
  if (p == 0)
    return x;
  return nn::create<nn::DropoutOp>(b, loc, x, b.getF64FloatAttr(p),
                                   b.getI64IntegerAttr(stream));
}

Value ProgramBuilder::stream(Value x) {
  nn::setTag(x.getDefiningOp(), nn::Tag::Stream);
  return x;
}

Value ProgramBuilder::layerNorm(StringRef name, Value x, double epsilon) {
  int64_t h = cast<RankedTensorType>(x.getType()).getShape().back();
  std::string weight = (name + ".weight").str(), bias = (name + ".bias").str();
  Value w = parameter({weight, "h", {h}, {}, constant("ones")});
  Value c = parameter({bias, "h", {h}, {}, constant("zeros")});
  return nn::create<nn::LayerNormOp>(b, loc, x, w, c,
                                     b.getF64FloatAttr(epsilon));
}

Value ProgramBuilder::project(Value x, const Projection &p) {
  dist::Signature sig = dist::Signature::parse(p.spec);
  Value w = parameter({p.name + ".weight", sig.ins[1], p.shape, p.fileShape,
                       normal(initialDeviation), true});
  Value y = einsum(p.spec, {x, w});
  if (!p.hasBias)
    return y;
  std::string dims = sig.out.substr(2); // after "bs"
  ArrayRef<int64_t> shape = ArrayRef<int64_t>(p.shape).take_front(dims.size());
  Value c = parameter({p.name + ".bias",
                       dims,
                       SmallVector<int64_t>(shape),
                       {p.fileShape[0]},
                       constant("zeros")});
  return add(sig.out + "," + dims + "->" + sig.out, {y, c});
}

Value ProgramBuilder::attention(const Attention &heads) {
  auto attention =
      nn::AttentionAttr::get(b.getContext(), heads.causal, APFloat(heads.scale),
                             heads.window, heads.maxDistance);
  auto op = nn::createWithResults<nn::AttentionOp>(
      b, loc, 2, heads.query, heads.key, heads.value, heads.biasTable,
      heads.querySegments, heads.keySegments, attention,
      b.getF64FloatAttr(heads.dropout), b.getI64IntegerAttr(dropoutStream()));
  nn::setTag(op, nn::Tag::Attention);
  return op.getOutput();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

Value ProgramBuilder::crossEntropy(Value logits, Value labels) {
  Value top = nn::create<nn::MaxOp>(b, loc, logits);
  Value shifted = add("bsv,bs->bsv", {logits, top}, {1, -1});
  Value z = einsum("bsv->bs", map(nn::Function::Exp, shifted));
  Value target = nn::create<nn::PickOp>(b, loc, logits, labels);
  return add("bs,bs,bs->bs", {map(nn::Function::Log, z), top, target},
             {1, 1, -1});
}

/// Marks the mean for evaluations.
static Value asCrossEntropy(Value mean) {
  nn::setTag(mean.getDefiningOp(), nn::Tag::CrossEntropy);
  return mean;
}

Value ProgramBuilder::causalMean(Value tokens, Value labels) {
  if (sizes.ignoresLabels)
    return meanOverCounted(tokens, labels);
  return asCrossEntropy(
      einsum("bs->", tokens,
             1.0 / (static_cast<double>(sizes.batch) * sizes.sequence)));
}

/// The count depends on data: it is a sum over the batch like the loss itself.
Value ProgramBuilder::meanOverCounted(Value tokens, Value labels) {
  Value counts = counted(labels);
  Value count = einsum("bs->", counts);
  nn::setTag(count.getDefiningOp(), nn::Tag::BatchTotal);
  Value sum = einsum("bs,bs->", {tokens, counts});
  return asCrossEntropy(
      einsum(",->", {sum, map(nn::Function::Reciprocal, count)}));
}
