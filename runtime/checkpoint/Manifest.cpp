//===- Manifest.cpp - manifest.json of a checkpoint -----------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"

namespace tessera {

using nlohmann::json;

/// Of the manifest without its "hash"; keys are sorted, so the text is unique.
static std::string manifestHash(const json &manifest) {
  json rest = manifest;
  rest.erase("hash");
  std::string text = rest.dump();
  return hashText(hashBytes(text.data(), text.size()));
}

std::string writeManifest(const Manifest &manifest) {
  json files = json::object();
  for (const Manifest::File &file : manifest.files)
    files[file.name] = {{"bytes", file.bytes}, {"xxh3_64", file.hash}};
  json root = {{"format", 1},
               {"producer", std::string("tessera ") + TESSERA_VERSION},
               {"step", manifest.step},
               {"seed", manifest.seed},
               {"next_data_step", manifest.nextDataStep},
               {"files", files}};
  root["hash"] = manifestHash(root);
  return root.dump(1) + "\n";
}

Manifest readManifest(const InputFile &file) {
  // Ours has about 500 bytes.
  constexpr JsonLimits limits = {1 << 20, 8, 10'000};
  std::string source = concat("'", file.path(), "'");
  if (file.size() > limits.bytes)
    fail(TSR_CORRUPT, source, " has ", file.size(), " bytes, a manifest has ",
         "at most ", limits.bytes, "; load an older checkpoint");
  std::string text = file.readAll();
  json parsed =
      parseJson(source, text.data(), text.data() + text.size(), limits);
  JsonView root(parsed, source);
  root.at("format").integer(1, 1);
  std::string hash = manifestHash(parsed);
  if (root.at("hash").text() != hash)
    root.at("hash").refuse(concat("is ", root.at("hash").text(),
                                  ", the content has ", hash,
                                  "; the manifest is altered"));
  Manifest manifest;
  manifest.step = root.at("step").integer(0, INT64_MAX);
  manifest.seed = root.at("seed").integer(INT64_MIN, INT64_MAX);
  manifest.nextDataStep = root.at("next_data_step").integer(0, INT64_MAX);
  JsonView files = root.at("files");
  for (const char *name : {modelFile, optimizerFile}) {
    JsonView file = files.at(name);
    manifest.files.push_back(
        {name, static_cast<uint64_t>(file.at("bytes").integer(0, INT64_MAX)),
         file.at("xxh3_64").text()});
  }
  return manifest;
}

} // namespace tessera
