//===- ConfigKeys.cpp - which keys of a config a family knows -------------===//

#include "lib/Import/ConfigKeys.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

/// Keys of transformers that change no model of a language.
static constexpr llvm::StringLiteral kHarmless[] = {
    "model_type",
    "architectures",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "use_cache",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "_name_or_path",
    "task_specific_params",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "is_decoder",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "gradient_checkpointing",
    "keys_to_ignore_at_inference",
    "chunk_size_feed_forward",
    "attn_implementation",
    "_attn_implementation",
    "pruned_heads",
    "is_encoder_decoder",
    "add_cross_attention",
    "quantization_config"};

/// Keys that no family supports.
static constexpr llvm::StringLiteral kUnsupported[] = {
    "add_cross_attention", "is_encoder_decoder", "pruned_heads",
    "quantization_config"};

static bool isEmpty(const llvm::json::Value &value) {
  if (std::optional<bool> flag = value.getAsBoolean())
    return !*flag;
  if (const llvm::json::Object *object = value.getAsObject())
    return object->empty();
  if (const llvm::json::Array *array = value.getAsArray())
    return array->empty();
  return false;
}

static LogicalResult checkUnsupported(const ConfigFile &file,
                                      const ConfigKeys &keys) {
  SmallVector<llvm::StringLiteral> refused(keys.unsupported);
  llvm::append_range(refused, kUnsupported);
  for (StringRef key : refused)
    if (const llvm::json::Value *value = file.find(key))
      if (!isEmpty(*value) && !llvm::is_contained(keys.optional, key))
        return file.error(key)
               << "'" << key
               << "' changes the model and is not supported; remove it to "
                  "train "
               << keys.training;
  return success();
}

static LogicalResult checkArchitecture(const ConfigFile &file,
                                       const ConfigKeys &keys) {
  const llvm::json::Value *names = file.find("architectures");
  const llvm::json::Array *list = names ? names->getAsArray() : nullptr;
  if (!list || list->empty())
    return success();
  std::optional<StringRef> name = (*list)[0].getAsString();
  if (name && llvm::is_contained(keys.architectures, *name))
    return success();
  return file.error("architectures")
         << "'architectures' names " << llvm::formatv("{0}", (*list)[0]).str()
         << "; only '" << keys.architectures.front() << "' is supported";
}

/// A key one or two letters away from a known one is taken for a mistake, all
/// others are listed once.
static LogicalResult checkUnknown(const ConfigFile &file,
                                  const ConfigKeys &keys) {
  SmallVector<StringRef> known(keys.required.begin(), keys.required.end());
  llvm::append_range(known, keys.optional);
  SmallVector<StringRef> unknown;
  for (const auto &entry : file.object()) {
    StringRef key = entry.first;
    if (llvm::is_contained(known, key) || llvm::is_contained(kHarmless, key) ||
        llvm::is_contained(keys.harmless, key) ||
        llvm::is_contained(keys.unsupported, key))
      continue;
    for (StringRef meant : known)
      if (key.edit_distance(meant, true, 2) < (meant.size() < 8 ? 2u : 3u))
        return file.error(key) << "unknown key '" << key << "'; did you mean '"
                               << meant << "'?";
    unknown.push_back(key);
  }
  if (unknown.empty())
    return success();
  llvm::sort(unknown);
  emitWarning(file.at(unknown.front()))
      << "ignored keys that " << keys.family
      << " does not have: " << llvm::join(unknown, ", ");
  return success();
}

LogicalResult tessera::checkKeys(const ConfigFile &file,
                                 const ConfigKeys &keys) {
  return success(succeeded(checkUnknown(file, keys)) &&
                 succeeded(file.require(keys.required)) &&
                 succeeded(checkUnsupported(file, keys)) &&
                 succeeded(checkArchitecture(file, keys)));
}
