//===- ConfigKeys.cpp - which keys of a config a family knows -------------===//

#include "lib/Import/ConfigKeys.h"
#include "lib/Import/ForeignKeys.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

/// Keys of transformers that change no model of a language: its classes, how it
/// is run, its classification heads, and how texts are generated.
/// `reorder_and_upcast_attn` asks for f32 scores, which every precision has.
static constexpr llvm::StringLiteral kHarmless[] = {
    "model_type",
    "architectures",
    "transformers_version",
    "_name_or_path",
    "name_or_path",
    "_commit_hash",
    "tokenizer_class",
    "finetuning_task",
    "task_specific_params",
    "torch_dtype",
    "dtype",
    "torchscript",
    "use_bfloat16",
    "tf_legacy_loss",
    "use_cache",
    "output_past",
    "output_attentions",
    "output_hidden_states",
    "tie_last_hidden_states",
    "return_dict",
    "gradient_checkpointing",
    "keys_to_ignore_at_inference",
    "chunk_size_feed_forward",
    "reorder_and_upcast_attn",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_flash_attn_2_enabled",
    "experts_implementation",
    "_experts_implementation",
    "is_decoder",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "classifier_dropout",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "sep_token_id",
    "cls_token_id",
    "unk_token_id",
    "decoder_start_token_id",
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "prefix",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p"};

static bool isKnown(const ConfigKeys &keys, StringRef key) {
  return llvm::is_contained(keys.required, key) ||
         llvm::is_contained(keys.optional, key) ||
         llvm::is_contained(keys.harmless, key);
}

/// Returns whether the value of a key that the family cannot have asks for
/// nothing; none if the family may have the key.
static std::optional<bool> isLeftOut(const ConfigKeys &keys, StringRef key,
                                     const llvm::json::Value &value) {
  if (isKnown(keys, key))
    return std::nullopt;
  if (llvm::is_contained(keys.unsupported, key))
    return value.getAsNull() || value.getAsBoolean() == false;
  if (llvm::is_contained(kHarmless, key))
    return std::nullopt;
  return asksForNothing(keys, key, value);
}

/// Returns the keys in the order of their names.
static std::vector<StringRef> sortedKeys(const ConfigFile &file) {
  std::vector<StringRef> sorted;
  for (const auto &entry : file.object())
    sorted.push_back(entry.first);
  llvm::sort(sorted);
  return sorted;
}

static LogicalResult checkUnsupported(const ConfigFile &file,
                                      const ConfigKeys &keys) {
  for (StringRef key : sortedKeys(file)) {
    const llvm::json::Value &value = *file.object().get(key);
    if (isLeftOut(keys, key, value) != false)
      continue;
    return file.error(key) << llvm::formatv(
                                  "'{0}' = {1} changes the model and is not "
                                  "supported; remove it to train {2}",
                                  key, value, keys.training)
                                  .str();
  }
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
/// others are listed once, unless they are null.
static LogicalResult checkUnknown(const ConfigFile &file,
                                  const ConfigKeys &keys) {
  SmallVector<StringRef> known(keys.required.begin(), keys.required.end());
  llvm::append_range(known, keys.optional);
  std::vector<std::string> unknown;
  for (StringRef key : sortedKeys(file)) {
    if (file.isNull(key) || isKnown(keys, key) ||
        llvm::is_contained(kHarmless, key) ||
        isLeftOut(keys, key, *file.object().get(key)))
      continue;
    for (StringRef meant : known)
      if (key.edit_distance(meant, true, 2) < (meant.size() < 8 ? 2u : 3u))
        return file.error(key) << "unknown key '" << key << "'; did you mean '"
                               << meant << "'?";
    unknown.push_back(key.str());
  }
  if (unknown.empty())
    return success();
  emitWarning(file.at(unknown.front()))
      << "ignored keys that " << keys.family
      << " does not have: " << llvm::join(unknown, ", ");
  file.leave(std::move(unknown));
  return success();
}

LogicalResult tessera::checkKeys(const ConfigFile &file,
                                 const ConfigKeys &keys) {
  return success(succeeded(checkUnknown(file, keys)) &&
                 succeeded(file.require(keys.required)) &&
                 succeeded(checkUnsupported(file, keys)) &&
                 succeeded(checkArchitecture(file, keys)));
}

LogicalResult tessera::readPadding(const ConfigFile &file, int64_t vocabulary,
                                   std::optional<int64_t> &padding) {
  int64_t token = 0;
  if (failed(file.read("pad_token_id", token, {-vocabulary, vocabulary - 1})))
    return failure();
  if (file.isNull("pad_token_id"))
    padding.reset();
  if (file.find("pad_token_id"))
    padding = token < 0 ? token + vocabulary : token;
  file.note("pad_token_id",
            padding ? llvm::json::Value(*padding) : llvm::json::Value(nullptr));
  return success();
}
