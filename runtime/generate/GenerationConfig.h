//===- GenerationConfig.h - how texts end and are drawn ---------*- C++ -*-===//
// The settings come from the files of a model as `transformers` reads them:
// from generation_config.json, or config.json where there is none, but never
// both.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H
#define TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H

#include "runtime/artifact/Metadata.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A setting that the file lacks, or gives as null, has no value.
struct GenerationConfig {
  std::string file;          ///< For people; "": there is none.
  std::vector<int32_t> ends; ///< Tokens of the vocabulary that end a text.
  std::optional<bool> samples;
  std::optional<double> temperature, topP, minP, repetitionPenalty;
  std::optional<int64_t> topK, maxNewTokens;
  /// Lists the settings that would change texts and are not followed,
  /// "num_beams 4, ...".
  std::string notFollowed;
};

/// Reads the files in `folder`, or, if that is "" or has none, those that the
/// artifact holds. TSR_CORRUPT: a value is out of range.
GenerationConfig readGenerationConfig(const Metadata &metadata,
                                      const std::string &folder);

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H
