//===- Seeds.cpp - writes what the corpora begin with ---------------------===//
// Real files and messages of the runtime, of the tests' fixture. After a change
// of a format: FuzzSeeds test/Fuzz/Runtime/corpus
#include "test/Fuzz/Runtime/Seeds.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/ShardIndex.h"
#include "test/Fuzz/Runtime/Fuzzed.h"
#include "test/Runtime/fixture/Fixture.h"

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <limits>

using namespace tessera;
using namespace seeds;
using fixture::readFile;

static std::string corpus;

void seeds::seed(const std::string &target, const std::string &name,
                 const std::string &bytes) {
  std::filesystem::create_directories(corpus + "/" + target);
  fixture::writeFile(corpus + "/" + target + "/" + name, bytes);
}

namespace {

/// Makes metadata on a mesh with stages, with every optional key.
nlohmann::json everyKey() {
  nlohmann::json metadata = fixture::stagedMetadata();
  metadata["arena"]["by_kind"] = {{"weights", 64}, {"inputs", 8}};
  metadata["model"].update({{"mask_token", 1},
                            {"token_types", 2},
                            {"target", 1},
                            {"start_token", 0},
                            {"pad_token", 0}});
  metadata["config_files"] = {{"config.json", "{}"},
                              {"generation_config.json", "{}"}};
  nlohmann::json kept = nlohmann::json::array();
  for (const nlohmann::json &tensor : metadata["tensors"])
    if (tensor["name"] != "labels")
      kept.push_back(tensor);
  kept[5]["partial"] = nlohmann::json::array();
  metadata["tensors"] = kept;
  return metadata;
}

std::string signedOne(const std::string &content) {
  fixture::TemporaryDirectory directory;
  fixture::writeFile(directory / "model.tsr", content);
  fixture::writeFile(directory / "key.pem", fuzzed::publishedKey);
  return signArtifact(directory / "model.tsr",
                      PrivateKey(directory / "key.pem"));
}

/// Returns a tensor without `init` and `file_shape`, of no axis.
nlohmann::json tensorOf(const char *role, const char *name,
                        std::vector<int64_t> shape, int64_t offset) {
  return {{"role", role},         {"name", name},
          {"dtype", "f32"},       {"shape", shape},
          {"local_shape", shape}, {"offset", offset},
          {"offsets", {offset}},  {"sharding", nlohmann::json::array()}};
}

/// Makes metadata with as little as the refusals below need.
nlohmann::json smallMetadata() {
  nlohmann::json metadata = fixture::metadataOf(1, 1);
  for (const char *key : {"precision", "producer", "report"})
    metadata.erase(key);
  metadata["arena"] = {{"bytes", 64}, {"stages", {{{"bytes", 64}}}}};
  metadata["ops"] = nlohmann::json::array();
  metadata["tensors"] = {tensorOf("parameter", "w", {2}, 0),
                         tensorOf("moment1", "w", {2}, 8)};
  return metadata;
}

/// One change each that the parser refuses: at a place, to a value.
constexpr struct {
  const char *name, *at, *value;
} refusals[] = {
    {"no-object", "", "[]"},
    {"format", "/format", "2"},
    {"no-model", "/model", "{}"},
    {"format-is-text", "/format", "\"1\""},
    {"features", "/target/features", "[1]"},
    {"axis-twice", "/mesh/1/axis", "\"dp\""},
    {"ranks", "/mesh/1/size", "1048576"},
    {"mesh-is-no-array", "/mesh", "{}"},
    {"stage-axis", "/pipeline", "{\"axis\": \"pp\"}"},
    {"micro-batches", "/model/micro_batches", "3"},
    {"sequence", "/model/sequence", "1099511627776"},
    {"beta1", "/optimizer/beta1", "1"},
    {"lr-is-text", "/optimizer/lr", "\"1\""},
    {"by-kind", "/arena/by_kind", "{\"inputs\": 8, \"weights\": 9}"},
    {"role", "/tensors/0/role", "\"weight\""},
    {"dtype", "/tensors/0/dtype", "\"f8\""},
    {"dimensions", "/tensors/0/shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
    {"elements", "/tensors/0/shape", "[1000000000,1000000000,1000000000]"},
    {"file-shape", "/tensors/0/file_shape", "[3]"},
    {"local-shape", "/tensors/0/local_shape", "[1]"},
    {"offset", "/tensors/0/offset", "2"},
    {"leaves-the-arena", "/tensors/0/offset", "60"},
    {"overlap", "/tensors/0/offset", "4"},
    {"same-tensor", "/tensors/1/role", "\"parameter\""},
    {"no-parameter", "/tensors/0/name", "\"v\""},
    {"no-such-axis", "/tensors/0/sharding", "[{\"axis\": \"pp\", \"dim\": 0}]"},
    {"axis-used-twice", "/tensors/0",
     R"({"dtype":"f32","local_shape":[2],"name":"w","offset":0,"partial":["tp"],
         "role":"parameter","shape":[2],"sharding":[{"axis":"tp","dim":0}]})"},
    {"partial-state", "/tensors/1/partial", "[\"tp\"]"},
    {"init", "/tensors/0/init", "{\"kind\": \"uniform\"}"},
    {"init-ones", "/tensors/0/init", "{\"kind\": \"ones\"}"},
    {"no-frequencies", "/tensors/0/init",
     R"({"kind": "sines", "scale": 1, "frequencies": []})"},
    {"frequencies", "/tensors/0/init",
     R"({"kind": "cosines", "scale": 1, "frequencies": [1, 0.5]})"},
    {"std", "/tensors/0/init",
     R"({"kind": "normal", "mean": 0, "std": -1, "stream": 0})"},
    {"input", "/tensors/0",
     R"({"dtype":"f32","local_shape":[2],"name":"ids","offset":0,
         "role":"input","shape":[2],"sharding":[]})"},
};

/// Writes an artifact of this kind, with a header that says something else.
template <class Value>
void seedHeader(const std::string &name, Value tsr_abi_header::*field,
                Value value) {
  std::string bytes = fixture::artifactOf("{}", "code");
  tsr_abi_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.*field = value;
  std::memcpy(bytes.data(), &header, sizeof header);
  seed("Artifact", name, bytes);
}

void writeHeaders() {
  seed("Artifact", "no-artifact", std::string(sizeof(tsr_abi_header), 'x'));
  seedHeader("version", &tsr_abi_header::abi_version, {});
  seedHeader("header-bytes", &tsr_abi_header::header_bytes, {});
  seedHeader("torn", &tsr_abi_header::metadata_bytes, {});
  seedHeader("hash", &tsr_abi_header::hash, {});
}

/// ELF files of a header, at most one segment and one section, which is at the
/// end.
void writeElf() {
  Elf64_Ehdr good;
  std::string code = fixture::codeOf(1, 1);
  std::memcpy(&good, code.data(), sizeof good);
  good.e_phnum = good.e_shnum = 0;
  good.e_phoff = good.e_shoff = sizeof good;
  seed("Code", "no-segment", bytesOf(good));
  Elf64_Ehdr header = good;
  header.e_ident[EI_CLASS] = ELFCLASS32;
  seed("Code", "32-bit", bytesOf(header));
  header = good;
  header.e_machine = EM_S390;
  seed("Code", "other-machine", bytesOf(header));
  header = good;
  header.e_phnum = 1;
  seed("Code", "segments-outside", bytesOf(header));
  Elf64_Phdr segment{};
  segment.p_filesz = 1 << 20;
  seed("Code", "segment-outside", bytesOf(header) + bytesOf(segment));
  header = good;
  header.e_shnum = 1;
  Elf64_Shdr symbols{};
  symbols.sh_type = SHT_DYNSYM;
  seed("Code", "no-symbols", bytesOf(header) + bytesOf(symbols));
  symbols.sh_offset = 1 << 20;
  seed("Code", "names-outside", bytesOf(header) + bytesOf(symbols));
}

/// One change each of the stages' tasks.
void writeRefusedTasks() {
  constexpr struct {
    const char *name, *at, *value;
  } changes[] = {
      {"task-of-no-call", "/pipeline/tasks/1/1/end", "5"},
      {"tasks-of-one-stage", "/pipeline/tasks", "[[]]"},
      {"order-without-tasks", "/pipeline/order/1/0", "[2]"},
      {"order-of-no-task", "/pipeline/order/1/0/1", "2"},
      {"order-runs-too-often", "/pipeline/order/1/0/0", "3"},
      {"order-repeats-a-task", "/pipeline/order/1/0", "[2, 0, 1, 0]"},
      {"order-ends-early", "/pipeline/order/1/0/0", "1"},
      {"op-of-no-stage", "/ops/7/stage", "2"},
      {"times", "/ops/6/times", "3"},
  };
  for (const auto &[name, at, value] : changes) {
    nlohmann::json metadata = fixture::stagedMetadata();
    metadata[nlohmann::json::json_pointer(at)] = nlohmann::json::parse(value);
    metadata["tensors"] = nlohmann::json::array();
    seed("Metadata", name, metadata.dump());
  }
}

void writeRefusals() {
  std::string small = smallMetadata().dump();
  parseMetadata("small", small);
  for (const auto &[name, at, value] : refusals) {
    nlohmann::json metadata = smallMetadata();
    metadata[nlohmann::json::json_pointer(at)] = nlohmann::json::parse(value);
    if (std::string(name) == "input") // state needs a parameter
      metadata["tensors"].erase(1);
    seed("Metadata", name, metadata.dump());
  }
  // Stages that do not hold a tensor, or of which there are more.
  nlohmann::json staged = smallMetadata();
  staged["pipeline"] = {{"axis", "dp"}};
  staged["tensors"][0]["offsets"] = {-1};
  seed("Metadata", "no-stage", staged.dump());
  staged["tensors"][0]["offsets"] = {0, 0};
  seed("Metadata", "two-offsets-for-a-stage", staged.dump());
  staged["arena"]["stages"] = nlohmann::json::array();
  seed("Metadata", "arena-of-no-stage", staged.dump());
  seed("Metadata", "not-json", "{\"format\": 1,");
}

void writeArtifacts() {
  nlohmann::json small = fixture::metadataOf(1, 1);
  seed("Metadata", "fixture-1x1", small.dump());
  seed("Metadata", "fixture-2x2", fixture::metadataOf(2, 2).dump());
  std::string all = everyKey().dump();
  parseMetadata("every-key", all); // it is of use only if it is accepted
  seed("Metadata", "every-key", all);
  seed("Code", "fixture-1x1", fixture::codeOf(1, 1));
  writeRefusals();
  writeRefusedTasks();
  writeHeaders();
  writeElf();
  small["tensors"] = small["ops"] = nlohmann::json::array();
  std::string artifact =
      fixture::artifactOf(small.dump(), fixture::codeOf(1, 1));
  seed("Artifact", "no-tensors", artifact);
  std::string ofSigner = signedOne(artifact);
  seed("Artifact", "signed", ofSigner);
  ofSigner[offsetof(tsr_abi_header, signature)] ^= 1;
  seed("Artifact", "of-no-signer", ofSigner);
}

/// Headers of files that end with four bytes of data.
constexpr struct {
  const char *name, *header;
} headers[] = {
    {"array", "[]"},
    {"zero-byte-in-name", R"({"a\u0000": {}})"},
    {"offsets",
     R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})"},
    {"size",
     R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2]}})"},
    {"elements",
     R"({"a": {"dtype": "F4", "shape": [1099511627776, 1099511627776],
         "data_offsets": [0, 4]}})"},
    {"metadata", R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "F4",
         "shape": [8], "data_offsets": [0, 4]}})"},
};

/// Uses data, so that the checkpoint names them.
void bindData(fixture::Training &training) {
  std::string path = training.directory / "text";
  fixture::writeFile(path, "To be, or not to be");
  const char *paths[] = {path.c_str()};
  tsr_data_options options = {};
  options.size = sizeof options;
  options.sequence = 4;
  options.vocabulary = 256;
  tsr_data *data = nullptr;
  if (tsr_data_open(paths, 1, &options, &data) != TSR_OK ||
      tsr_session_use_data(training.session, data) != TSR_OK)
    throw std::runtime_error(tsr_last_error());
  tsr_data_destroy(data);
}

void writeCheckpoint() {
  fixture::Training training(1, 1);
  std::string directory = training.directory / "saved";
  training.step(0);
  bindData(training);
  if (tsr_session_save(training.session, directory.c_str()) != TSR_OK)
    throw std::runtime_error(tsr_last_error());
  for (const auto &step : std::filesystem::directory_iterator(directory)) {
    if (!step.is_directory())
      continue;
    std::string path = step.path();
    std::string manifest = readFile(path + "/" + manifestFile);
    seed("Manifest", "fixture", manifest);
    manifest.replace(manifest.find("\"step\": "), 9, "\"step\": 7");
    seed("Manifest", "altered", manifest);
    seed("Safetensors", "model", readFile(path + "/" + modelFile));
    seed("Safetensors", "optimizer", readFile(path + "/" + optimizerFile));
  }
  std::string data(14, 1);
  seed("Safetensors", "types",
       safetensorsHeader({{"a", "BF16", {2}, 4},
                          {"b", "F16", {1, 1}, 2},
                          {"c", "F64", {}, 8},
                          {"d", "I8", {0, 3}, 0}}) +
           data);
  float nan = std::numeric_limits<float>::quiet_NaN();
  seed("Safetensors", "not-finite",
       safetensorsHeader({{"a", "F32", {1}, 4}}) + bytesOf(nan));
  for (const auto &[name, header] : headers)
    seed("Safetensors", name,
         bytesOf(static_cast<uint64_t>(std::strlen(header))) + header + "data");
  seed("Safetensors", "too-short", "seven b");
  seed("Safetensors", "no-header", bytesOf(uint64_t(1) << 40));
}

void writeShardIndices() {
  seed("ShardIndex", "written",
       writeShardIndex(cutIntoShards({{"a", "F32", {5}, 20},
                                      {"b", "F32", {5, 2}, 40},
                                      {"c", "F32", {1}, 4},
                                      {"d", "F32", {1}, 4}},
                                     40)));
  seed("ShardIndex", "folder", R"({"weight_map": {"a": "b/c", "b": "b/c"}})");
  seed("ShardIndex", "outside", R"({"weight_map": {"a": "b/../../c"}})");
  seed("ShardIndex", "empty", R"({"weight_map": {}})");
  seed("ShardIndex", "twice", R"({"weight_map": {"a": "b", "a": "c"}})");
  seed("ShardIndex", "zero-byte", R"({"weight_map": {"a\u0000": "b"}})");
}

} // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: FuzzSeeds CORPUS\n");
    return 2;
  }
  corpus = arguments[1];
  writeArtifacts();
  writeCheckpoint();
  writeShardIndices();
  writeData();
  writeMessages();
}
