//===- Manifest.cpp - manifest.json of a checkpoint -----------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/File.h"
#include "runtime/support/JsonLimits.h"

namespace tessera {

using nlohmann::json;

/// Writes JSON; bytes of file names that are no UTF-8 are replaced.
static std::string textOf(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// Hashes the manifest without its "hash"; keys are sorted, so the text is
/// unique.
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
    if (!file.contentHash.empty())
      part["xxh3_64_of_blocks"] = file.contentHash;
    part["share"] = file.share;
    part["first"] = file.first;
    part["count"] = file.count;
  }
}

static void writePosition(const DataPosition &position, json &root) {
  root["sequences_read"] = position.sequences;
  root["sequence_length"] = position.sequence;
  root["target_length"] = position.target;
  if (position.ofFiles.empty())
    return;
  json &files = root["sequences_of_files"] = JsonTree::Type::array;
  for (int64_t sequences : position.ofFiles)
    files.push_back(sequences);
}

static DataPosition readPosition(const JsonView &root) {
  DataPosition position{root.at("sequences_read").integer(0, INT64_MAX),
                        root.at("sequence_length").integer(1, INT64_MAX),
                        root.at("target_length").integer(0, INT64_MAX),
                        {}};
  if (root.has("sequences_of_files"))
    position.ofFiles = root.at("sequences_of_files").integers(0, INT64_MAX);
  return position;
}

/// Writes JSON texts as the values that they stand for.
static void writeKeys(const std::map<std::string, std::string> &keys,
                      const char *name, json &root) {
  if (keys.empty())
    return;
  json &entry = root[name] = JsonTree::Type::object;
  for (const auto &[key, text] : keys) {
    JsonTree value =
        parseJson(concat("'", key, "' of the model"), text, json_kinds::record);
    entry[key] = std::move(value.root);
  }
}

static void writeBase(const AdapterBase &base, json &root) {
  if (base.tensors.empty())
    return;
  json &entry = root["base"] = JsonTree::Type::object;
  entry["path"] = base.path;
  json &tensors = entry["tensors"] = JsonTree::Type::object;
  for (const auto &[name, hash] : base.tensors)
    tensors[name] = hash;
}

static AdapterBase readBase(const JsonView &entry) {
  AdapterBase base{entry.at("path").text(), {}};
  const JsonView tensors = entry.at("tensors");
  tensors.requireObject();
  for (const auto &tensor : tensors.raw().items())
    base.tensors[tensor.key()] = tensors.at(tensor.key().c_str()).text();
  return base;
}

static DataIdentity::File readDataFile(const JsonView &file) {
  constexpr const char *hash = "xxh3_64_of_blocks"; // not in older manifests
  return {file.at("name").text(),
          file.at("tokens").integer(0, INT64_MAX),
          file.at("xxh3_64_of_ends").text(),
          file.at("share").integer(0, INT64_MAX),
          file.at("first").integer(0, INT64_MAX),
          file.at("count").integer(0, INT64_MAX),
          file.has(hash) ? file.at(hash).text() : ""};
}

static DataIdentity readData(const JsonView &entry) {
  DataIdentity data;
  for (const JsonView &file : entry.items())
    data.files.push_back(readDataFile(file));
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
  if (manifest.position)
    writePosition(*manifest.position, root);
  writeKeys(manifest.modelKeys, "model_keys", root);
  writeKeys(manifest.trainingKeys, "training_keys", root);
  writeBase(manifest.base, root);
  writeKeys(manifest.records, "records", root);
  json &files = root["files"] = JsonTree::Type::object;
  for (const Manifest::File &file : manifest.files) {
    json &entry = files[file.name] = JsonTree::Type::object;
    entry["bytes"] = file.bytes;
    entry["xxh3_64"] = file.hash;
  }
  root["hash"] = manifestHash(root);
  return textOf(root, 1) + "\n";
}

/// Checks that a name is that of a file beside the manifest, and not the
/// manifest itself.
static void checkFileName(const JsonView &files, const std::string &name) {
  if (name.empty() || name[0] == '.' || name == manifestFile ||
      name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    files.refuse(
        concat("names '", name.c_str(), "', which is no file of a checkpoint"));
}

static std::vector<Manifest::File> readFiles(const JsonView &files) {
  std::vector<Manifest::File> result;
  files.requireObject();
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
  std::string source = concat("'", file.path(), "'");
  std::string text = readJsonText(file, json_kinds::manifest);
  JsonTree parsed = parseJson(source, text, json_kinds::manifest);
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
  if (root.has("sequences_read"))
    manifest.position = readPosition(root);
  if (root.has("model_keys"))
    manifest.modelKeys = parseKeys(root.at("model_keys"));
  if (root.has("training_keys"))
    manifest.trainingKeys = parseKeys(root.at("training_keys"));
  if (root.has("base"))
    manifest.base = readBase(root.at("base"));
  if (root.has("records"))
    manifest.records = parseKeys(root.at("records"));
  return manifest;
}

} // namespace tessera
