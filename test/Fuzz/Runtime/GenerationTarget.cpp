//===- GenerationTarget.cpp - small files beside a model ------------------===//
// generation_config.json, config.json in its place, and adapter_config.json.
#include "runtime/checkpoint/Adapter.h"
#include "runtime/generate/GenerationConfig.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

static void readBeside(const char *name, const std::string &text) {
  Metadata metadata;
  metadata.model.vocabulary = 100;
  if (text.size() % 2)
    metadata.model.decoder.emplace();
  metadata.configFiles[name] = text;
  accepts([&] {
    GenerationConfig config = readGenerationConfig(metadata, "");
    for (int32_t end : config.ends)
      require(end >= 0 && end < 100, "a text ends with a token");
    require(!config.topK || *config.topK >= 0, "counts are not negative");
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  readBeside("generation_config.json", text);
  readBeside("config.json", text);
  accepts([&] {
    AdapterConfig config = readAdapterConfig("'adapter_config.json'", text);
    require(config.rank >= 1, "an adapter has a rank");
  });
  return 0;
}
