//===- Manifest.cpp - manifest.json of a checkpoint -----------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"

namespace tessera {

using nlohmann::json;

/// What is no UTF-8 in the name of a file is replaced.
static std::string textOf(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// Of the manifest without its "hash"; keys are sorted, so the text is unique.
static std::string manifestHash(const json &rest) {
  std::string text = textOf(rest, -1);
  return hashText(hashBytes(text.data(), text.size()));
}

static void writeData(const DataIdentity &data, json &entry) {
  entry = JsonTree::Type::array;
  for (const DataIdentity::File &file : data.files) {
    json &part = entry.emplace_back(JsonTree::Type::object);
    part["name"] = file.name;
    part["tokens"] = file.tokens;
    part["xxh3_64_of_ends"] = file.sampleHash;
    part["share"] = file.share;
    part["first"] = file.first;
    part["count"] = file.count;
  }
}

static DataIdentity readData(const JsonView &entry) {
  DataIdentity data;
  for (const JsonView &file : entry.items())
    data.files.push_back({file.at("name").text(),
                          file.at("tokens").integer(0, INT64_MAX),
                          file.at("xxh3_64_of_ends").text(),
                          file.at("share").integer(0, INT64_MAX),
                          file.at("first").integer(0, INT64_MAX),
                          file.at("count").integer(0, INT64_MAX)});
  return data;
}

std::string writeManifest(const Manifest &manifest) {
  JsonTree tree(JsonTree::Type::object);
  json &root = tree.root;
  root["format"] = 1;
  root["producer"] = std::string("tessera ") + TESSERA_VERSION;
  root["step"] = manifest.step;
  root["seed"] = manifest.seed;
  root["skipped_steps"] = manifest.skippedSteps;
  root["optimizer"] = manifest.optimizer;
  root["next_data_step"] = manifest.nextDataStep;
  if (manifest.data)
    writeData(*manifest.data, root["data"]);
  json &files = root["files"] = JsonTree::Type::object;
  for (const Manifest::File &file : manifest.files) {
    json &entry = files[file.name] = JsonTree::Type::object;
    entry["bytes"] = file.bytes;
    entry["xxh3_64"] = file.hash;
  }
  root["hash"] = manifestHash(root);
  return textOf(root, 1) + "\n";
}

/// A file beside the manifest, and not the manifest itself.
static void checkFileName(const JsonView &files, const std::string &name) {
  if (name.empty() || name[0] == '.' || name == manifestFile ||
      name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    files.refuse(
        concat("names '", name.c_str(), "', which is no file of a checkpoint"));
}

static std::vector<Manifest::File> readFiles(const JsonView &files) {
  std::vector<Manifest::File> result;
  if (!files.raw().is_object())
    files.refuse("must be an object");
  for (const auto &entry : files.raw().items()) {
    checkFileName(files, entry.key());
    JsonView file = files.at(entry.key().c_str());
    result.push_back(
        {entry.key(),
         static_cast<uint64_t>(file.at("bytes").integer(0, INT64_MAX)),
         file.at("xxh3_64").text()});
  }
  files.at(files.has(modelIndexFile) ? modelIndexFile : modelFile);
  files.at(optimizerFile);
  return result;
}

Manifest readManifest(const InputFile &file) {
  // Ours has about 500 bytes, and 120 more for each shard.
  constexpr JsonLimits limits = {16 << 20, 8, 1'000'000, RepeatedKey::Refused};
  std::string source = concat("'", file.path(), "'");
  if (file.size() > limits.bytes)
    fail(TSR_CORRUPT, source, " has ", file.size(), " bytes, a manifest has ",
         "at most ", limits.bytes, "; load an older checkpoint");
  std::string text = file.readAll();
  JsonTree parsed =
      parseJson(source, text.data(), text.data() + text.size(), limits);
  JsonView root(parsed.root, source);
  root.at("format").integer(1, 1);
  std::string said = root.at("hash").text();
  parsed.root.erase("hash");
  std::string hash = manifestHash(parsed.root);
  if (said != hash)
    fail(TSR_CORRUPT, source, ": 'hash' is ", said, ", the content has ", hash,
         "; the manifest is altered");
  Manifest manifest;
  manifest.step = root.at("step").integer(0, INT64_MAX);
  manifest.seed = root.at("seed").integer(INT64_MIN, INT64_MAX);
  if (root.has("skipped_steps"))
    manifest.skippedSteps = root.at("skipped_steps").integer(0, manifest.step);
  if (root.has("optimizer"))
    manifest.optimizer = root.at("optimizer").text();
  manifest.nextDataStep = root.at("next_data_step").integer(0, INT64_MAX);
  manifest.files = readFiles(root.at("files"));
  if (root.has("data"))
    manifest.data = readData(root.at("data"));
  return manifest;
}

} // namespace tessera
