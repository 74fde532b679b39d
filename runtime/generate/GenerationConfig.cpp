#include "runtime/generate/GenerationConfig.h"

#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <cmath>
#include <utility>

namespace tessera {

static constexpr const char *configName = "config.json",
                            *generationName = "generation_config.json";

namespace {
/// Holds a file of a model; errors name it by `source`.
struct ModelFile {
  std::string source, text;
};

/// A key that is not followed. Null, false, empty lists and the `neutral`
/// numbers leave texts as they are.
struct Unfollowed {
  const char *key;
  std::vector<double> neutral;
};
} // namespace

static std::optional<ModelFile> fileIn(const std::string &folder,
                                       const char *name) {
  const std::string path = folder + "/" + name;
  if (folder.empty() || !isFile(path))
    return std::nullopt;
  return ModelFile{"'" + path + "'",
                   readJsonText(InputFile(path), json_kinds::config)};
}

static std::optional<ModelFile> fileOf(const Metadata &metadata,
                                       const char *name) {
  auto found = metadata.configFiles.find(name);
  if (found == metadata.configFiles.end())
    return std::nullopt;
  return ModelFile{concat("'", name, "' of the artifact"), found->second};
}

static JsonTree parse(const ModelFile &file) {
  return parseJson(file.source, file.text, json_kinds::config);
}

/// Reads a token or a list of them; those that the vocabulary lacks are left
/// out, as they end no text.
static std::vector<int32_t> endsOf(const JsonView &config, int64_t vocabulary) {
  std::vector<int32_t> ends;
  if (!config.has("eos_token_id"))
    return ends;
  const JsonView given = config.at("eos_token_id");
  auto add = [&](const JsonView &token) {
    if (!token.raw().is_number_integer())
      given.refuse("must be a token or a list of tokens, but is " +
                   given.raw().dump() + "; correct it, or remove it");
    const int64_t id = token.integer(INT64_MIN, INT64_MAX);
    if (id >= 0 && id < vocabulary)
      ends.push_back(static_cast<int32_t>(id));
  };
  if (!given.raw().is_array())
    add(given);
  else
    for (const JsonView &token : given.items())
      add(token);
  return ends;
}

static std::optional<double> numberOf(const JsonView &config, const char *key,
                                      bool (*isGood)(double),
                                      const char *range) {
  if (!config.has(key))
    return std::nullopt;
  const JsonView value = config.at(key);
  if (!value.raw().is_number() || !isGood(value.number()))
    value.refuse(concat("must be ", range, ", but is ", value.raw().dump(),
                        "; correct it, or remove it"));
  return value.number();
}

static std::optional<int64_t> countOf(const JsonView &config, const char *key,
                                      int64_t least, const char *range) {
  if (!config.has(key))
    return std::nullopt;
  const JsonView value = config.at(key);
  if (!value.raw().is_number_integer() ||
      value.integer(INT64_MIN, INT64_MAX) < least)
    value.refuse(concat("must be ", range, ", but is ", value.raw().dump(),
                        "; correct it, or remove it"));
  return value.integer(least, INT64_MAX);
}

static void readSampling(const JsonView &config, GenerationConfig &found) {
  if (config.has("do_sample"))
    found.samples = config.at("do_sample").boolean();
  found.temperature = numberOf(
      config, "temperature",
      [](double x) { return std::isfinite(x) && x >= 0; }, "0 or above");
  found.topP = numberOf(
      config, "top_p", [](double x) { return x > 0 && x <= 1; },
      "above 0 and at most 1");
  found.minP = numberOf(
      config, "min_p", [](double x) { return x >= 0 && x <= 1; }, "in [0, 1]");
  found.repetitionPenalty = numberOf(
      config, "repetition_penalty",
      [](double x) { return x >= 0.01 && x <= 100; }, "from 0.01 to 100");
  found.topK = countOf(config, "top_k", -1, "0 (all) or more");
  if (found.topK && *found.topK < 0)
    found.topK = 0;
  found.maxNewTokens = countOf(config, "max_new_tokens", 1, "1 or more");
}

static bool isNeutral(const nlohmann::json &value,
                      const std::vector<double> &neutral) {
  if (value.is_null() || value == false ||
      (value.is_structured() && value.empty()))
    return true;
  if (value.is_number())
    for (double each : neutral)
      if (value.get<double>() == each)
        return true;
  return false;
}

/// Lists the keys of the GenerationConfig of `transformers` that would choose
/// other tokens and are not followed.
static std::string unfollowedOf(const nlohmann::json &config) {
  static const Unfollowed keys[] = {{"num_beams", {0, 1}},
                                    {"penalty_alpha", {0}},
                                    {"typical_p", {1}},
                                    {"top_h", {}},
                                    {"epsilon_cutoff", {0}},
                                    {"eta_cutoff", {0}},
                                    {"encoder_repetition_penalty", {1}},
                                    {"no_repeat_ngram_size", {0}},
                                    {"encoder_no_repeat_ngram_size", {0}},
                                    {"bad_words_ids", {}},
                                    {"sequence_bias", {}},
                                    {"min_length", {0}},
                                    {"min_new_tokens", {0}},
                                    {"max_length", {20}}, // the default
                                    {"stop_strings", {}},
                                    {"forced_bos_token_id", {}},
                                    {"forced_eos_token_id", {}},
                                    {"suppress_tokens", {}},
                                    {"begin_suppress_tokens", {}},
                                    {"exponential_decay_length_penalty", {}},
                                    {"guidance_scale", {1}},
                                    {"watermarking_config", {}},
                                    {"dola_layers", {}}};
  std::string list;
  for (const Unfollowed &each : keys) {
    auto found = config.find(each.key);
    if (found != config.end() && !isNeutral(*found, each.neutral))
      list += concat(list.empty() ? "" : ", ", each.key, " ", found->dump());
  }
  return list;
}

/// Names a start token that is not followed: the program has that of the
/// config.json it was compiled from.
static std::string startOf(const JsonView &config, const Metadata &metadata) {
  constexpr const char *key = "decoder_start_token_id";
  if (!metadata.model.decoder || !config.has(key) ||
      config.at(key).raw() == metadata.model.decoder->start)
    return "";
  return concat(key, " ", config.at(key).raw().dump());
}

GenerationConfig readGenerationConfig(const Metadata &metadata,
                                      const std::string &folder) {
  auto own = fileIn(folder, generationName), model = fileIn(folder, configName);
  if (!own && !model) {
    own = fileOf(metadata, generationName);
    model = fileOf(metadata, configName);
  }
  GenerationConfig found;
  if (!own && !model)
    return found;
  const ModelFile &file = own ? *own : *model;
  const JsonTree tree = parse(file);
  const JsonView config(tree.root, file.source);
  config.requireObject();
  found.file = own ? generationName : configName;
  found.ends = endsOf(config, metadata.model.vocabulary);
  readSampling(config, found);
  found.notFollowed = unfollowedOf(tree.root);
  const bool drawsFromAll = found.samples.value_or(false) && !found.topK;
  for (const std::string &more :
       {startOf(config, metadata),
        std::string(drawsFromAll
                        ? "top_k 50, which transformers takes where the file "
                          "gives none"
                        : ""),
        std::string(own && model && !config.has("eos_token_id") &&
                            JsonView(parse(*model).root, model->source)
                                .has("eos_token_id")
                        ? "eos_token_id of config.json"
                        : "")})
    if (!more.empty())
      found.notFollowed += (found.notFollowed.empty() ? "" : ", ") + more;
  return found;
}

} // namespace tessera
