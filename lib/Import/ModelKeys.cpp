//===- ModelKeys.cpp - what a program says of its model -------------------===//
// Checkpoints name the model that they are of by this: shapes alone do not tell
// two heads from four, or one rotation from another.
//===----------------------------------------------------------------------===//

#include "lib/Import/ModelKeys.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tessera;

/// Keys that change how a model is trained, or what surrounds its texts, and
/// not what it computes of tokens. All other keys that are read change that.
static constexpr llvm::StringLiteral kTrainingKeys[] = {
    "resid_pdrop",          "embd_pdrop",
    "attn_pdrop",           "attention_dropout",
    "hidden_dropout_prob",  "attention_probs_dropout_prob",
    "dropout_rate",         "residual_dropout",
    "classifier_dropout",   "initializer_range",
    "initializer_factor",   "output_router_logits",
    "router_aux_loss_coef", "router_jitter_noise",
    "bos_token_id",         "eos_token_id",
    "pad_token_id",         "mask_token_id",
    "special_tokens"};

void tessera::attachModelKeys(ModuleOp module, const ConfigFile &file) {
  Builder builder(module.getContext());
  NamedAttrList model, training;
  for (const auto &[key, value] : file.notedKeys())
    (llvm::is_contained(kTrainingKeys, key) ? training : model)
        .set(key, builder.getStringAttr(value));
  module->setAttr(nn::kModelKeysAttr, model.getDictionary(module.getContext()));
  module->setAttr(nn::kTrainingKeysAttr,
                  training.getDictionary(module.getContext()));
}

namespace {

/// Writes down what a function computes: each op with its attributes, and where
/// its operands come from. Sizes of batch and sequence are in no attribute.
class ProgramText {
public:
  explicit ProgramText(func::FuncOp function) : function(function) {
    for (BlockArgument argument : function.getArguments())
      addArgument(argument);
    for (Operation *op : modelOps())
      addOp(op);
  }

  uint64_t hash() const { return llvm::xxh3_64bits(text); }

private:
  /// Returns the ops up to the logits, or all of a loss without nn.pick. The
  /// ops behind the logits depend on which labels count.
  SmallVector<Operation *> modelOps() {
    Block &body = function.getBody().front();
    auto picks = body.getOps<nn::PickOp>();
    llvm::DenseSet<Operation *> needed;
    if (!picks.empty())
      needed.insert((*picks.begin())->getOperand(0).getDefiningOp());
    SmallVector<Operation *> ops;
    for (Operation &op : llvm::reverse(body)) {
      if (!picks.empty() && !needed.contains(&op))
        continue;
      ops.push_back(&op);
      for (Value operand : op.getOperands())
        needed.insert(operand.getDefiningOp());
    }
    return llvm::to_vector(llvm::reverse(ops));
  }
  void add(const Twine &part) { text += part.str() + "\n"; }
  void addArgument(BlockArgument argument) {
    numbers[argument] = static_cast<int64_t>(numbers.size());
    for (StringRef name : {StringRef(nn::NNDialect::kParamAttr),
                           StringRef(nn::NNDialect::kFileShapeAttr),
                           StringRef(nn::NNDialect::kDataAttr),
                           StringRef(nn::NNDialect::kTableAttr)})
      if (Attribute value = attributeOf(argument, name))
        add(name + llvm::formatv("={0}", value).str());
    // Tables are numbers of the model; parameters only begin as theirs say.
    if (attributeOf(argument, nn::NNDialect::kTableAttr))
      add(llvm::formatv("{0}", attributeOf(argument, nn::NNDialect::kInitAttr))
              .str());
  }
  Attribute attributeOf(BlockArgument argument, StringRef name) {
    return function.getArgAttr(argument.getArgNumber(), name);
  }
  void addOp(Operation *op) {
    // Dropout is a part of training and not of what the model computes.
    if (isa<nn::DropoutOp>(op)) {
      numbers[op->getResult(0)] = numbers[op->getOperand(0)];
      return;
    }
    std::string line = op->getName().getStringRef().str();
    for (Value operand : op->getOperands())
      line += " " + std::to_string(numbers[operand]);
    for (NamedAttribute attribute : op->getAttrs()) {
      StringRef name = attribute.getName().getValue();
      if (!name.starts_with("nn.") && name != "stream" && name != "dropout" &&
          name != "padding") // Only gradients of a lookup know the token.
        line += " " + name.str() + "=" +
                llvm::formatv("{0}", attribute.getValue()).str();
    }
    add(line);
    for (Value result : op->getResults())
      numbers[result] = static_cast<int64_t>(numbers.size());
  }

  func::FuncOp function;
  llvm::DenseMap<Value, int64_t> numbers;
  std::string text;
};

} // namespace

void tessera::attachProgramHash(ModuleOp module) {
  auto loss = module.lookupSymbol<func::FuncOp>("loss");
  NamedAttrList keys(module->getAttrOfType<DictionaryAttr>(nn::kModelKeysAttr));
  Builder builder(module.getContext());
  std::string hash = llvm::formatv("\"{0:x-16}\"", ProgramText(loss).hash());
  keys.set("program", builder.getStringAttr(hash));
  module->setAttr(nn::kModelKeysAttr, keys.getDictionary(module.getContext()));
}
