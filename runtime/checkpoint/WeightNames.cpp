//===- WeightNames.cpp - the names that weights have in files -------------===//
#include "runtime/checkpoint/WeightNames.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tessera {

/// Classes with a head write "transformer.wte.weight", those without
/// "wte.weight".
static constexpr const char *prefixes[] = {"transformer.", "model.", "bert."};

/// Last parts of a name, in files made of TensorFlow's BERT, and now.
static constexpr const char *oldEndings[][2] = {{".gamma", ".weight"},
                                                {".beta", ".bias"}};

/// The last one is left in the published T5: only self-attention reads it.
static constexpr const char *buffers[] = {
    "h.*.attn.bias",
    "h.*.attn.masked_bias",
    "h.*.crossattention.bias",
    "h.*.crossattention.masked_bias",
    "embeddings.position_ids",
    "embeddings.token_type_ids",
    "rotary_emb.inv_freq",
    "rotary_emb.original_inv_freq",
    "layers.*.self_attn.rotary_emb.inv_freq",
    "layers.*.self_attn.rotary_emb.cos_cached",
    "layers.*.self_attn.rotary_emb.sin_cached",
    "decoder.block.*.layer.*.EncDecAttention.relative_attention_bias.weight"};

static constexpr const char *heads[] = {"lm_head.",
                                        "cls.",
                                        "pooler.",
                                        "classifier.",
                                        "score.",
                                        "v_head.",
                                        "qa_outputs.",
                                        "classification_head.",
                                        "multiple_choice_head."};

/// The left one is stored only where a model does not tie it to the right one,
/// or by files that hold both, or the left one alone.
static constexpr const char *ties[][2] = {
    {"lm_head.weight", "wte.weight"},
    {"lm_head.weight", "embed_tokens.weight"},
    {"lm_head.weight", "shared.weight"},
    {"encoder.embed_tokens.weight", "shared.weight"},
    {"decoder.embed_tokens.weight", "shared.weight"},
    {"cls.predictions.decoder.weight", "embeddings.word_embeddings.weight"},
    {"cls.predictions.decoder.bias", "cls.predictions.bias"}};

/// Parameters that Tessera has renamed, and their names before.
static constexpr const char *renamed[][2] = {
    {"cls.predictions.decoder.bias", "cls.predictions.bias"}};

static bool startsWith(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string plainName(const std::string &name) {
  std::string plain = name;
  for (std::string prefix : prefixes)
    if (startsWith(name, prefix)) {
      plain = name.substr(prefix.size());
      break;
    }
  for (const auto &[before, now] : oldEndings) {
    std::string ending = before;
    if (plain.size() > ending.size() &&
        plain.compare(plain.size() - ending.size(), ending.size(), ending) == 0)
      return plain.substr(0, plain.size() - ending.size()) + now;
  }
  return plain;
}

std::string namePattern(const std::string &name) {
  std::string pattern;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    std::string part = name.substr(begin, end - begin);
    bool isNumber =
        !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    pattern += (begin ? "." : "") + (isNumber ? "*" : part);
    begin = end + 1;
  }
  return pattern;
}

bool isBuffer(const std::string &name) {
  std::string pattern = namePattern(name);
  return std::any_of(std::begin(buffers), std::end(buffers),
                     [&](const char *buffer) { return pattern == buffer; });
}

bool isHead(const std::string &name) {
  return std::any_of(std::begin(heads), std::end(heads),
                     [&](const char *head) { return startsWith(name, head); });
}

std::string nameBefore(const std::string &name) {
  for (const auto &[now, before] : renamed)
    if (startsWith(name, now))
      return before + name.substr(std::strlen(now));
  return name;
}

bool isStoredForAnother(const std::string &name, const std::string &other) {
  return std::any_of(std::begin(ties), std::end(ties), [&](const auto &tie) {
    return name == tie[0] && other == tie[1];
  });
}

std::vector<std::string> tiedNames(const std::string &name) {
  std::vector<std::string> names;
  for (const auto &[left, right] : ties) {
    if (name == left)
      names.push_back(right);
    if (name == right)
      names.push_back(left);
  }
  return names;
}

} // namespace tessera
