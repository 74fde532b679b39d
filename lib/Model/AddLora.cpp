//===- AddLora.cpp - adapters of low rank beside linear layers ------------===//
// y = x W becomes x W + alpha / r (x A) B (Hu et al. 2021, arXiv 2106.09685)
// before anything is distributed: how A and B are split, and what of their
// gradients is reduced, follows from the types.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Adapters.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Model/Passes.h"
#include "tessera/Options/LoraOptions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

namespace tessera {
#define GEN_PASS_DEF_ADDLORAPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The letter of an adapter's rank in specs and nn.dims; no axis splits it.
constexpr char kRankLetter = 'a';

/// A linear layer: the product of a weight that nothing else reads.
struct Linear {
  std::string module; ///< The weight's name without ".weight".
  BlockArgument weight;
  nn::EinsumOp product;
  unsigned operand = 0; ///< The weight's.
  /// Letters of x, W and y, and of W those that are contracted and those kept.
  std::string x, w, y, in, out;

  Value input() const { return nn::EinsumOp(product).getInputs()[1 - operand]; }
  StringRef dims() const {
    auto func = cast<func::FuncOp>(weight.getOwner()->getParentOp());
    return func
        .getArgAttrOfType<StringAttr>(weight.getArgNumber(),
                                      nn::NNDialect::kDimsAttr)
        .getValue();
  }
};

/// The parameters of a layer's adapter.
struct Adapter {
  Value a, b;
};

/// Returns the letters of `from` that `of` has, or that it lacks.
std::string lettersIn(StringRef from, StringRef of) {
  std::string found;
  for (char c : from)
    if (of.contains(c))
      found += c;
  return found;
}

StringRef lastPart(StringRef module) {
  return module.substr(module.find_last_of('.') + 1);
}

/// Returns the module of a parameter "MODULE.weight"; "" for others.
std::string moduleOf(func::FuncOp func, unsigned argument) {
  auto name =
      func.getArgAttrOfType<StringAttr>(argument, nn::NNDialect::kParamAttr);
  StringRef text = name ? name.getValue() : StringRef();
  return text.consume_back(".weight") ? text.str() : "";
}

/// Returns whether a module is a target as in peft: its name, or its end after
/// a dot, is given.
bool isTargeted(StringRef module, ArrayRef<std::string> targets) {
  return llvm::any_of(targets, [&](StringRef target) {
    StringRef rest = module;
    return rest.consume_back(target) && (rest.empty() || rest.ends_with("."));
  });
}

std::optional<Linear> linearOf(func::FuncOp func, unsigned argument) {
  Linear linear;
  linear.module = moduleOf(func, argument);
  linear.weight = func.getArgument(argument);
  if (linear.module.empty() || !linear.weight.hasOneUse())
    return std::nullopt;
  OpOperand &use = *linear.weight.use_begin();
  linear.product = dyn_cast<nn::EinsumOp>(use.getOwner());
  if (!linear.product || !linear.product.isContraction())
    return std::nullopt;
  linear.operand = use.getOperandNumber();
  dist::Signature sig = linear.product.getSignature(0);
  linear.w = sig.ins[linear.operand];
  auto dims =
      func.getArgAttrOfType<StringAttr>(argument, nn::NNDialect::kDimsAttr);
  if (!dims || dims.size() != linear.w.size())
    return std::nullopt;
  linear.x = sig.ins[1 - linear.operand];
  linear.y = sig.out;
  linear.in = lettersIn(linear.w, linear.x);
  linear.out = lettersIn(linear.w, linear.y);
  // A letter of all three would make a matrix per element.
  bool isMatrix = linear.in.size() + linear.out.size() == linear.w.size() &&
                  lettersIn(linear.in, linear.y).empty();
  return isMatrix ? std::optional(linear) : std::nullopt;
}

struct AddLoraPass : tessera::impl::AddLoraPassBase<AddLoraPass> {
  using AddLoraPassBase::AddLoraPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = nn::findSerialLoss(getOperation());
    if (failed(found))
      return signalPassFailure();
    func = *found;
    if (rank < 1) {
      func.emitError() << "cannot add adapters of rank " << rank.getValue()
                       << "; use at least 1";
      return signalPassFailure();
    }
    FailureOr<std::vector<Linear>> layers = findLayers();
    if (failed(layers))
      return signalPassFailure();
    freezeAll();
    findStreams();
    for (Linear &layer : *layers)
      adapt(layer);
    func.setType(FunctionType::get(&getContext(),
                                   func.getBody().front().getArgumentTypes(),
                                   func.getResultTypes()));
    attachConfig(*layers);
  }

  FailureOr<std::vector<Linear>> findLayers();
  LogicalResult refuseTarget(unsigned argument);
  LogicalResult refuseMissing(StringRef target);
  void freezeAll();
  void findStreams();
  Value addParameter(const Linear &layer, StringRef which, std::string dims,
                     DictionaryAttr init);
  DictionaryAttr uniformOver(int64_t inputs);
  Adapter addParameters(const Linear &layer);
  void readThroughBranch(Linear &layer);
  void adapt(Linear &layer);
  void attachConfig(ArrayRef<Linear> layers);
  SmallVector<std::string> targetNames(ArrayRef<Linear> layers);

  func::FuncOp func;
  /// Holds the branch of each value of the residual stream that adapted layers
  /// read.
  DenseMap<Value, Value> branches;
  int64_t nextParameterStream = 0, nextDropoutStream = 1;
};

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// Refuses a target that is no linear layer.
LogicalResult AddLoraPass::refuseTarget(unsigned argument) {
  BlockArgument weight = func.getArgument(argument);
  InFlightDiagnostic error = func.emitError()
                             << "LoRA target '" << moduleOf(func, argument)
                             << "' is no linear layer of its own";
  if (!weight.use_empty())
    error << ": '" << (*weight.user_begin())->getName() << "' reads it"
          << (weight.hasOneUse() ? "" : ", and another op");
  return error << "; name layers that multiply by a matrix, e.g. targets="
               << kAllLinear;
}

/// Lists the last parts of the names that there are, the nearest first.
LogicalResult AddLoraPass::refuseMissing(StringRef target) {
  llvm::SetVector<StringRef> found;
  std::vector<Linear> layers;
  for (unsigned k = 0; k < func.getNumArguments(); ++k)
    if (auto linear = linearOf(func, k))
      layers.push_back(*linear);
  for (const Linear &layer : layers)
    found.insert(lastPart(layer.module));
  SmallVector<StringRef> names(found.takeVector());
  llvm::stable_sort(names, [&](StringRef a, StringRef b) {
    return a.edit_distance(target) < b.edit_distance(target);
  });
  return func.emitError() << "no linear layer is called '" << target
                          << "', which is to get an adapter; there are '"
                          << llvm::join(names, "', '") << "', and "
                          << kAllLinear << " means all but the head";
}

FailureOr<std::vector<Linear>> AddLoraPass::findLayers() {
  bool all = llvm::is_contained(targets, kAllLinear);
  std::vector<Linear> layers;
  SmallVector<std::string> modules;
  for (unsigned k = 0; k < func.getNumArguments(); ++k) {
    std::string module = moduleOf(func, k);
    if (module.empty())
      continue;
    std::optional<Linear> linear = linearOf(func, k);
    bool isNamed = isTargeted(module, targets);
    if (isNamed && !linear)
      return refuseTarget(k);
    modules.push_back(module);
    // A head makes logits, and a router chooses experts.
    bool isHidden = linear && lettersIn(linear->dims(), "vxy").empty();
    if (isNamed || (all && isHidden))
      layers.push_back(*linear);
  }
  for (const std::string &target : targets)
    if (target != kAllLinear &&
        llvm::none_of(modules, [&](const std::string &module) {
          return isTargeted(module, target);
        }))
      return refuseMissing(target);
  if (layers.empty())
    return func.emitError() << "has no linear layer that could get an adapter";
  return layers;
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

void AddLoraPass::freezeAll() {
  for (unsigned k = 0; k < func.getNumArguments(); ++k)
    if (func.getArgAttr(k, nn::NNDialect::kParamAttr))
      func.setArgAttr(k, nn::kFrozenAttr, UnitAttr::get(&getContext()));
}

/// Random numbers of parameters have even streams, those of dropout odd ones.
void AddLoraPass::findStreams() {
  auto follow = [&](Attribute stream) {
    auto number = dyn_cast_or_null<IntegerAttr>(stream);
    if (!number)
      return;
    int64_t &next =
        number.getInt() % 2 ? nextDropoutStream : nextParameterStream;
    next = std::max(next, number.getInt() + 2);
  };
  for (unsigned k = 0; k < func.getNumArguments(); ++k)
    if (auto init =
            func.getArgAttrOfType<DictionaryAttr>(k, nn::NNDialect::kInitAttr))
      follow(init.get("stream"));
  func.walk([&](Operation *op) {
    if (auto attention = dyn_cast<nn::AttentionOp>(op))
      follow(attention.getStreamAttr());
    if (auto dropout = dyn_cast<nn::DropoutOp>(op))
      follow(dropout.getStreamAttr());
  });
}

/// Parameters come first among the arguments.
Value AddLoraPass::addParameter(const Linear &layer, StringRef which,
                                std::string dims, DictionaryAttr init) {
  Builder b(&getContext());
  auto weight = cast<RankedTensorType>(layer.weight.getType());
  // Whatever letters a spec has, a plan reads those of nn.dims.
  std::string letters;
  SmallVector<int64_t> shape;
  for (char letter : dims) {
    size_t dim = layer.w.find(letter);
    bool isRank = letter == kRankLetter;
    letters += isRank ? letter : layer.dims()[dim];
    shape.push_back(isRank ? rank.getValue() : weight.getDimSize(dim));
  }
  // Files hold matrices [out, in]: [r, in] of A and [out, r] of B.
  auto type = RankedTensorType::get(shape, weight.getElementType());
  SmallVector<int64_t> fileShape = {rank, type.getNumElements() / rank};
  if (dims.back() == kRankLetter)
    std::swap(fileShape[0], fileShape[1]);
  NamedAttrList attrs;
  std::string name = nn::adapterName(layer.module, which);
  attrs.set(nn::NNDialect::kParamAttr, b.getStringAttr(name));
  attrs.set(nn::NNDialect::kDimsAttr, b.getStringAttr(letters));
  attrs.set(nn::NNDialect::kInitAttr, init);
  attrs.set(nn::NNDialect::kFileShapeAttr, b.getI64ArrayAttr(fileShape));
  attrs.set(nn::NNDialect::kDecayAttr, b.getUnitAttr());
  unsigned index = 0;
  while (index < func.getNumArguments() &&
         func.getArgAttr(index, nn::NNDialect::kParamAttr))
    ++index;
  (void)func.insertArgument(index, type, attrs.getDictionary(&getContext()),
                            layer.weight.getLoc());
  return func.getArgument(index);
}

/// Returns the distribution from which peft draws A: Kaiming uniform (He et al.
/// 2015) with slope sqrt(5), which is between the roots of 1 / in.
DictionaryAttr AddLoraPass::uniformOver(int64_t inputs) {
  Builder b(&getContext());
  double bound = 1 / std::sqrt(static_cast<double>(inputs));
  int64_t stream = nextParameterStream;
  nextParameterStream += 2;
  return b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr("uniform")),
       b.getNamedAttr("bound", b.getF64FloatAttr(bound)),
       b.getNamedAttr("stream", b.getI64IntegerAttr(stream))});
}

/// B starts at 0, so that the adapted model starts as the model.
Adapter AddLoraPass::addParameters(const Linear &layer) {
  const std::string a(1, kRankLetter);
  int64_t inputs = 1;
  for (auto [letter, size] : llvm::zip(
           layer.w, cast<RankedTensorType>(layer.weight.getType()).getShape()))
    inputs *= StringRef(layer.in).contains(letter) ? size : 1;
  Builder b(&getContext());
  DictionaryAttr zeros =
      b.getDictionaryAttr(b.getNamedAttr("kind", b.getStringAttr("zeros")));
  return {addParameter(layer, "lora_A", a + layer.in, uniformOver(inputs)),
          addParameter(layer, "lora_B", layer.out + a, zeros)};
}

/// The layer and its adapter are two readers of one value: their gradients add
/// up before they meet those of the residual stream's other readers, which a
/// plan converts apart.
void AddLoraPass::readThroughBranch(Linear &layer) {
  Value x = layer.input();
  Operation *made = x.getDefiningOp();
  if (!made || !nn::hasTag(made, nn::Tag::Stream))
    return;
  Value &branch = branches[x];
  if (!branch) {
    OpBuilder b(layer.product);
    branch = nn::create<nn::AddOp>(b, layer.product.getLoc(),
                                   b.getStringAttr(layer.x + "->" + layer.x),
                                   ValueRange(x), DenseF64ArrayAttr());
  }
  layer.product->setOperand(1 - layer.operand, branch);
}

void AddLoraPass::adapt(Linear &layer) {
  readThroughBranch(layer);
  OpBuilder b(layer.product);
  b.setInsertionPointAfter(layer.product);
  Location loc = layer.product.getLoc();
  const std::string a(1, kRankLetter);
  std::string kept = layer.x; // letters of x that x A keeps
  llvm::erase_if(kept, [&](char c) { return StringRef(layer.in).contains(c); });
  Adapter adapter = addParameters(layer);
  auto mark = [&](Value value) {
    value.getDefiningOp()->setAttr(nn::kAdapterAttr, b.getUnitAttr());
    return value;
  };
  auto product = [&](const std::string &spec, ValueRange values, double scale) {
    return mark(nn::create<nn::EinsumOp>(b, loc, b.getStringAttr(spec), values,
                                         b.getF64FloatAttr(scale), TypeAttr()));
  };
  Value x = layer.input(), y = layer.product.getOutput();
  if (dropout > 0) {
    x = mark(nn::create<nn::DropoutOp>(b, loc, x, b.getF64FloatAttr(dropout),
                                       b.getI64IntegerAttr(nextDropoutStream)));
    nextDropoutStream += 2;
  }
  std::string small = kept + a;
  Value low =
      product(layer.x + "," + a + layer.in + "->" + small, {x, adapter.a}, 1);
  // The scale is applied where the tensor is smallest; a matrix product has no
  // scale.
  if (double scale = alpha / static_cast<double>(rank); scale != 1)
    low = product(small + "->" + small, low, scale);
  Value high = product(small + "," + layer.out + a + "->" + layer.y,
                       {low, adapter.b}, 1);
  Value sum = mark(nn::create<nn::AddOp>(
      b, loc, b.getStringAttr(layer.y + "," + layer.y + "->" + layer.y),
      ValueRange{y, high}, DenseF64ArrayAttr()));
  y.replaceAllUsesExcept(sum, sum.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// adapter_config.json
//===----------------------------------------------------------------------===//

/// Returns the named targets, or the last parts of all names.
SmallVector<std::string> AddLoraPass::targetNames(ArrayRef<Linear> layers) {
  if (!llvm::is_contained(targets, kAllLinear))
    return SmallVector<std::string>(targets.begin(), targets.end());
  llvm::SetVector<StringRef> names;
  for (const Linear &layer : layers)
    names.insert(lastPart(layer.module));
  return llvm::map_to_vector(names, [](StringRef name) { return name.str(); });
}

/// Returns whether a file holds the weight as [in, out].
bool isTransposed(const Linear &layer) {
  return StringRef(layer.in).contains(layer.w.front());
}

/// Returns peft's name for the purpose of a model; null for a masked language
/// model.
llvm::json::Value taskOf(ModuleOp module) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (!model || model.get("mask_token"))
    return nullptr;
  return model.get("target") ? "SEQ_2_SEQ_LM" : "CAUSAL_LM";
}

/// Returns the name that the model's config.json gives it; null if it gives
/// none.
llvm::json::Value baseNameOf(DictionaryAttr files) {
  auto text = files ? files.getAs<StringAttr>(nn::kConfigFile) : StringAttr();
  auto config = parseJson(text ? text.getValue() : "{}", json_kinds::config);
  if (!config) {
    llvm::consumeError(config.takeError());
    return nullptr;
  }
  const llvm::json::Object *object = config->getAsObject();
  auto name = object ? object->getString("_name_or_path") : std::nullopt;
  return name && !name->empty() ? llvm::json::Value(*name) : nullptr;
}

void AddLoraPass::attachConfig(ArrayRef<Linear> layers) {
  ModuleOp module = getOperation();
  auto files = module->getAttrOfType<DictionaryAttr>(nn::kConfigFilesAttr);
  double whole = std::floor(alpha);
  llvm::json::Object config{
      {"peft_type", "LORA"},
      {"task_type", taskOf(module)},
      {"auto_mapping", nullptr},
      {"base_model_name_or_path", baseNameOf(files)},
      {"revision", nullptr},
      {"r", rank.getValue()},
      {"lora_alpha", whole == alpha
                         ? llvm::json::Value(static_cast<int64_t>(whole))
                         : llvm::json::Value(alpha.getValue())},
      {"lora_dropout", dropout.getValue()},
      {"target_modules", llvm::json::Array(targetNames(layers))},
      {"fan_in_fan_out", llvm::any_of(layers, isTransposed)},
      {"bias", "none"},
      {"modules_to_save", nullptr},
      {"init_lora_weights", true},
      {"use_rslora", false},
      {"use_dora", false},
      {"inference_mode", true}};
  NamedAttrList all(files);
  all.set(nn::kAdapterConfigFile,
          StringAttr::get(
              &getContext(),
              llvm::formatv("{0:2}\n", llvm::json::Value(std::move(config)))
                  .str()));
  module->setAttr(nn::kConfigFilesAttr, all.getDictionary(&getContext()));
}

} // namespace
