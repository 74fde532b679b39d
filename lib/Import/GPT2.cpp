//===- GPT2.cpp - builds the serial program of a GPT-2 --------------------===//
// Radford et al. 2019, as Hugging Face's GPT2LMHeadModel computes it. Letters:
// b batch, s sequence, h hidden, c one of query, key, value, n heads, d head
// size, f feed-forward, v vocabulary, p positions.
//===----------------------------------------------------------------------===//

#include "GPT2.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(const GPT2Config &config, const ProgramSizes &sizes,
                 const GPT2Locations &locations)
      : config(config), sizes(sizes), locations(locations),
        b(locations.model.getContext()), loc(locations.model) {}

  OwningOpRef<ModuleOp> build();

private:
  struct Weight {
    StringRef name, dims;
    SmallVector<int64_t> shape, fileShape;
    DictionaryAttr init;
    bool decays = false;
  };

  void enter(const Twine &name, Location file) {
    loc = NameLoc::get(b.getStringAttr(name), file);
  }
  Value argument(unsigned index, Type type, NamedAttrList attrs);
  Value parameter(const Weight &weight);
  Value data(StringRef name);
  DictionaryAttr normal(double std);
  DictionaryAttr constant(StringRef kind);
  int64_t dropoutStream() { return 2 * dropouts++ + 1; }

  Value einsum(StringRef spec, ValueRange inputs, double scale = 1.0);
  Value add(StringRef spec, ValueRange inputs, ArrayRef<double> coefs = {});
  Value map(nn::Function function, Value x);
  Value dropout(Value x, double p);
  Value norm(StringRef name, Value x);
  Value stream(Value x);

  Value embed(Value ids);
  Value attention(Value x, int64_t layer, const std::string &prefix);
  Value heads(Value qkv, int64_t layer);
  Value mlp(Value x, const std::string &prefix);
  Value logits(Value x);
  Value loss(Value logits, Value labels);
  DictionaryAttr modelAttr();

  GPT2Config config;
  ProgramSizes sizes;
  GPT2Locations locations;
  OpBuilder b;
  Location loc;
  func::FuncOp func;
  Value table;
  SmallVector<Attribute> arguments;
  unsigned dataArguments = 0;
  /// Streams of parameters are even, those of dropout odd: neither moves when
  /// the other changes.
  int64_t parameters = 0, dropouts = 0;
};

DictionaryAttr ProgramBuilder::normal(double std) {
  return b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr("normal")),
       b.getNamedAttr("mean", b.getF64FloatAttr(0.0)),
       b.getNamedAttr("std", b.getF64FloatAttr(std)),
       b.getNamedAttr("stream", b.getI64IntegerAttr(2 * parameters))});
}

DictionaryAttr ProgramBuilder::constant(StringRef kind) {
  return b.getDictionaryAttr(b.getNamedAttr("kind", b.getStringAttr(kind)));
}

Value ProgramBuilder::argument(unsigned index, Type type, NamedAttrList attrs) {
  arguments.insert(arguments.begin() + index,
                   attrs.getDictionary(b.getContext()));
  return func.getBody().front().insertArgument(index, type, loc);
}

/// Goes before the data; its file shape is its shape where none is given.
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
  return argument(arguments.size() - dataArguments, type, attrs);
}

Value ProgramBuilder::data(StringRef name) {
  auto type = RankedTensorType::get(
      {sizes.batch / sizes.microBatches, sizes.sequence}, b.getI32Type());
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

/// The stream is consumed even where nothing is dropped.
Value ProgramBuilder::dropout(Value x, double p) {
  int64_t stream = dropoutStream();
  if (p == 0)
    return x;
  return nn::create<nn::DropoutOp>(b, loc, x, b.getF64FloatAttr(p),
                                   b.getI64IntegerAttr(stream));
}

/// Marks a value of the residual stream, whose distribution a plan fixes.
Value ProgramBuilder::stream(Value x) {
  x.getDefiningOp()->setAttr(nn::NNDialect::kTagAttr,
                             b.getStringAttr("stream"));
  return x;
}

Value ProgramBuilder::norm(StringRef name, Value x) {
  std::string weight = (name + ".weight").str(), bias = (name + ".bias").str();
  Value w = parameter({weight, "h", {config.hidden}, {}, constant("ones")});
  Value c = parameter({bias, "h", {config.hidden}, {}, constant("zeros")});
  return nn::create<nn::LayerNormOp>(b, loc, x, w, c,
                                     b.getF64FloatAttr(config.epsilon));
}

//===----------------------------------------------------------------------===//
// Parts of the model
//===----------------------------------------------------------------------===//

Value ProgramBuilder::embed(Value ids) {
  enter("embedding", locations.embedding);
  int64_t h = config.hidden;
  Value positions = parameter({"transformer.wpe.weight",
                               "ph",
                               {config.positions, h},
                               {},
                               normal(config.initializerRange),
                               true});
  if (sizes.sequence < config.positions)
    positions = nn::create<nn::PrefixOp>(b, loc, positions,
                                         b.getI64IntegerAttr(sizes.sequence));
  Value x = nn::create<nn::EmbeddingOp>(b, loc, ids, table);
  return dropout(stream(add("bsh,sh->bsh", {x, positions})),
                 config.embeddingDropout);
}

Value ProgramBuilder::heads(Value qkv, int64_t layer) {
  double scale = config.scaleAttention ? 1.0 / std::sqrt(config.headSize()) : 1;
  if (config.scaleByLayer)
    scale /= layer + 1;
  Type unknown = RankedTensorType::get({}, b.getF32Type());
  auto parts =
      nn::UnstackOp::create(b, loc, TypeRange{unknown, unknown, unknown}, qkv,
                            b.getI64IntegerAttr(2));
  (void)dist::setResultTypes(parts);
  auto op = nn::AttentionOp::create(
      b, loc, TypeRange{unknown, unknown}, parts.getResult(0),
      parts.getResult(1), parts.getResult(2), b.getF64FloatAttr(scale),
      b.getUnitAttr(), b.getF64FloatAttr(config.attentionDropout),
      b.getI64IntegerAttr(dropoutStream()));
  (void)dist::setResultTypes(op);
  return op.getOutput();
}

Value ProgramBuilder::attention(Value x, int64_t layer,
                                const std::string &prefix) {
  int64_t h = config.hidden, n = config.heads, d = config.headSize();
  double std = config.initializerRange;
  std::string attn = "transformer." + prefix + "attn.";
  enter(prefix + "ln_1", locations.layers);
  Value a = norm("transformer." + prefix + "ln_1", x);
  enter(prefix + "attn", locations.layers);
  Value w = parameter({attn + "c_attn.weight",
                       "hcnd",
                       {h, 3, n, d},
                       {h, 3 * h},
                       normal(std),
                       true});
  Value c = parameter(
      {attn + "c_attn.bias", "cnd", {3, n, d}, {3 * h}, constant("zeros")});
  Value qkv = add("bscnd,cnd->bscnd", {einsum("bsh,hcnd->bscnd", {a, w}), c});
  Value o = heads(qkv, layer);
  w = parameter({attn + "c_proj.weight",
                 "ndh",
                 {n, d, h},
                 {h, h},
                 normal(std / std::sqrt(2.0 * config.layers)),
                 true});
  c = parameter({attn + "c_proj.bias", "h", {h}, {}, constant("zeros")});
  Value y = add("bsh,h->bsh", {einsum("bsnd,ndh->bsh", {o, w}), c});
  y = dropout(y, config.residualDropout);
  return stream(add("bsh,bsh->bsh", {x, y}));
}

Value ProgramBuilder::mlp(Value x, const std::string &prefix) {
  int64_t h = config.hidden, f = config.inner;
  double std = config.initializerRange;
  std::string name = "transformer." + prefix + "mlp.";
  enter(prefix + "ln_2", locations.layers);
  Value a = norm("transformer." + prefix + "ln_2", x);
  enter(prefix + "mlp", locations.layers);
  Value w =
      parameter({name + "c_fc.weight", "hf", {h, f}, {}, normal(std), true});
  Value c = parameter({name + "c_fc.bias", "f", {f}, {}, constant("zeros")});
  Value y = add("bsf,f->bsf", {einsum("bsh,hf->bsf", {a, w}), c});
  y = map(config.activation, y);
  w = parameter({name + "c_proj.weight",
                 "fh",
                 {f, h},
                 {},
                 normal(std / std::sqrt(2.0 * config.layers)),
                 true});
  c = parameter({name + "c_proj.bias", "h", {h}, {}, constant("zeros")});
  y = add("bsh,h->bsh", {einsum("bsf,fh->bsh", {y, w}), c});
  y = dropout(y, config.residualDropout);
  return stream(add("bsh,bsh->bsh", {x, y}));
}

Value ProgramBuilder::logits(Value x) {
  enter("ln_f", locations.layers);
  x = norm("transformer.ln_f", x);
  enter("head", locations.embedding);
  Value w = table;
  if (!config.tied)
    w = parameter({"lm_head.weight",
                   "vh",
                   {config.vocabulary, config.hidden},
                   {},
                   normal(config.initializerRange),
                   true});
  return einsum("bsh,vh->bsv", {x, w});
}

/// Mean over all tokens of all micro-batches of log-sum-exp minus target, in
/// parts that a split vocabulary leaves local (Shoeybi et al. 2019, section 3).
Value ProgramBuilder::loss(Value logits, Value labels) {
  enter("loss", locations.embedding);
  Value top = nn::create<nn::MaxOp>(b, loc, logits);
  Value shifted = add("bsv,bs->bsv", {logits, top}, {1, -1});
  Value z = einsum("bsv->bs", map(nn::Function::Exp, shifted));
  Value target = nn::create<nn::PickOp>(b, loc, logits, labels);
  Value token =
      add("bs,bs,bs->bs", {map(nn::Function::Log, z), top, target}, {1, 1, -1});
  return einsum("bs->", token,
                1.0 / (static_cast<double>(sizes.batch) * sizes.sequence));
}

DictionaryAttr ProgramBuilder::modelAttr() {
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  return b.getDictionaryAttr(
      {b.getNamedAttr("family", b.getStringAttr("gpt2")),
       number("layers", config.layers), number("vocabulary", config.vocabulary),
       number("sequence", sizes.sequence), number("batch", sizes.batch),
       number("micro_batches", sizes.microBatches)});
}

OwningOpRef<ModuleOp> ProgramBuilder::build() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  (*module)->setAttr(nn::NNDialect::kModelAttr, modelAttr());
  b.setInsertionPointToEnd(module->getBody());
  func = func::FuncOp::create(b, loc, "loss", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(func.addEntryBlock());
  enter("embedding", locations.embedding);
  table = parameter({"transformer.wte.weight",
                     "vh",
                     {config.vocabulary, config.hidden},
                     {},
                     normal(config.initializerRange),
                     true});
  Value ids = data("ids"), labels = data("labels");
  Value x = embed(ids);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::string prefix = "h." + std::to_string(layer) + ".";
    x = mlp(attention(x, layer, prefix), prefix);
  }
  Value result = loss(logits(x), labels);
  func::ReturnOp::create(b, loc, result);
  func.setType(b.getFunctionType(func.getBody().front().getArgumentTypes(),
                                 result.getType()));
  func.setAllArgAttrs(b.getArrayAttr(arguments));
  return module;
}

} // namespace

OwningOpRef<ModuleOp> tessera::buildGPT2(const GPT2Config &config,
                                         const ProgramSizes &sizes,
                                         const GPT2Locations &locations) {
  return ProgramBuilder(config, sizes, locations).build();
}
