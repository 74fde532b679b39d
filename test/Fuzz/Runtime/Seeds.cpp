//===- Seeds.cpp - writes what the corpora begin with ---------------------===//
// Real files and messages of the runtime, of the tests' fixture. After a change
// of a format: FuzzSeeds test/Fuzz/Runtime/corpus
#include "runtime/artifact/Artifact.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/ShardIndex.h"
#include "runtime/collectives/process/Frames.h"
#include "runtime/collectives/process/Handshake.h"
#include "runtime/collectives/process/Hello.h"
#include "test/Fuzz/Runtime/Fuzzed.h"
#include "test/Runtime/fixture/Fixture.h"

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <limits>

using namespace tessera;
using fixture::readFile;

namespace {

std::string corpus;

void seed(const std::string &target, const std::string &name,
          const std::string &bytes) {
  std::filesystem::create_directories(corpus + "/" + target);
  fixture::writeFile(corpus + "/" + target + "/" + name, bytes);
}

template <class Value> std::string bytesOf(const Value &value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

std::string withLength(const std::string &text) {
  return bytesOf(static_cast<uint32_t>(text.size())) + text;
}

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

template <class Integer> std::string tokensOf() {
  std::string tokens;
  for (int i = 0; i < 40; ++i)
    tokens += bytesOf(static_cast<Integer>(i));
  return tokens;
}

std::string llmcHeader(int32_t magic, int32_t version) {
  int32_t header[256] = {magic, version, 40};
  return bytesOf(header);
}

/// An index of Megatron data: two documents, the first of two sequences.
struct MegatronSeed {
  uint64_t version = 1;
  uint8_t type = 8;
  int64_t sequences = 3, entries = 3;
  int32_t lengths[3] = {1, 2, 4};
  int64_t begins[3] = {0, 2, 6}, documents[3] = {0, 2, 3};

  std::string bytes() const {
    return std::string("MMIDIDX\0\0", 9) + bytesOf(version) + bytesOf(type) +
           bytesOf(sequences) + bytesOf(entries) + bytesOf(lengths) +
           bytesOf(begins) + bytesOf(documents);
  }
};

void seedIndex(const std::string &name, const std::string &index,
               uint16_t tokenBytes = 14) {
  seed("MegatronIndex", name, bytesOf(tokenBytes) + index);
}

void writeMegatronTypes() {
  seedIndex("uint16", MegatronSeed().bytes());
  for (uint8_t type : {0, 1, 3, 4, 5, 7, 9}) {
    MegatronSeed typed;
    typed.type = type;
    int64_t width = type == 1 ? 1 : type == 4 ? 4 : type == 5 ? 8 : 2;
    for (int64_t &begin : typed.begins)
      begin = begin / 2 * width;
    seedIndex("type-" + std::to_string(type), typed.bytes(), 7 * width);
  }
}

void writeMegatron() {
  writeMegatronTypes();
  const MegatronSeed good;
  std::string bytes = good.bytes();
  seedIndex("torn", bytes.substr(0, bytes.size() - 1));
  seedIndex("only-magic", bytes.substr(0, 9));
  seedIndex("modes", bytes + std::string(3, '\0'));
  seedIndex("other-tokens", bytes, 13);
  auto changed = [&](const std::string &name, auto &&change) {
    MegatronSeed other;
    change(other);
    seedIndex(name, other.bytes());
  };
  changed("version", [](MegatronSeed &s) { s.version = 2; });
  changed("negative-count", [](MegatronSeed &s) { s.sequences = -1; });
  changed("negative-length", [](MegatronSeed &s) { s.lengths[1] = -2; });
  changed("gap", [](MegatronSeed &s) { s.begins[2] = 8; });
  changed("beyond", [](MegatronSeed &s) { s.lengths[2] = INT32_MAX; });
  changed("empty-document", [](MegatronSeed &s) { s.documents[1] = 0; });
  changed("descending", [](MegatronSeed &s) { s.documents[1] = -1; });
  changed("too-few-documents", [](MegatronSeed &s) { s.documents[2] = 2; });
}

enum DataFormat {
  Auto,
  Text,
  Uint16,
  Uint32,
  Llmc,
  HasTwo = 8,
  Weighted = 16,
  Split = 32,
  Validation = 64,
  Wrong = 128
};

/// Returns the options before a file: sequences of 4 and a vocabulary of 64.
std::string dataOptions(int format, int sequence = 4, int target = 0) {
  std::string bytes;
  for (int byte : {format, sequence, target, 64, 0})
    bytes.push_back(static_cast<char>(byte));
  return bytes;
}

std::string numpyHeader(std::string dictionary) {
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\1\0\x76\0", 10) + dictionary + "\n";
}

void writeData() {
  std::string narrow = tokensOf<uint16_t>(), wide = tokensOf<uint32_t>();
  std::string text = "To be, or not to be: that is";
  seed("Data", "text", dataOptions(Text) + text);
  seed("Data", "auto", dataOptions(Auto) + text);
  seed("Data", "uint16", dataOptions(Uint16) + narrow);
  seed("Data", "uint32", dataOptions(Uint32) + wide);
  seed("Data", "pairs-in-two-files",
       dataOptions(Uint16 + HasTwo, 4, 3) + narrow);
  seed("Data", "llmc", dataOptions(Llmc) + llmcHeader(20240520, 1) + narrow);
  seed("Data", "llmc-uint32",
       dataOptions(Auto) + llmcHeader(20240801, 7) + wide);
  seed("Data", "numpy",
       dataOptions(Auto) +
           numpyHeader("{'descr': '<u4', 'fortran_order': False, 'shape': "
                       "(40,), }") +
           wide);
}

void writeSplitData() {
  std::string narrow = tokensOf<uint16_t>();
  seed("Data", "weighted", dataOptions(Uint16 + HasTwo + Weighted) + narrow);
  seed("Data", "training", dataOptions(Uint16 + HasTwo + Split) + narrow);
  seed("Data", "validation",
       dataOptions(Uint16 + Weighted + Split + Validation) + narrow);
  seed("Data", "no-validation", dataOptions(Uint16 + Validation) + narrow);
  seed("Data", "validation-too-short",
       dataOptions(Uint16 + Split, 20) + narrow);
  constexpr int all = Uint16 + HasTwo + Weighted + Split + Wrong;
  auto wrong = [&](const std::string &name, char what) {
    seed("Data", name, dataOptions(all) + what + narrow);
  };
  wrong("file-twice", 1);
  wrong("weight-negative", 2);
  wrong("weight-small", 4);
  wrong("weights-zero", 8);
  wrong("fraction", 16);
}

void writeRefusedData() {
  std::string narrow = tokensOf<uint16_t>(), wide = tokensOf<uint32_t>();
  std::string gzip("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10);
  std::string arrow("\xFF\xFF\xFF\xFF\x10\0\0\0", 8);
  seed("Data", "llmc-torn", dataOptions(Llmc) + llmcHeader(20240520, 1));
  seed("Data", "llmc-version", dataOptions(Llmc) + llmcHeader(20240520, 2));
  seed("Data", "llmc-as-uint16",
       dataOptions(Uint16) + llmcHeader(20240520, 1) + narrow);
  seed("Data", "odd", dataOptions(Uint16) + narrow + "x");
  seed("Data", "too-few", dataOptions(Uint16, 100) + narrow);
  seed("Data", "uint32-as-uint16", dataOptions(Uint16) + wide);
  seed("Data", "uint16-as-uint32", dataOptions(Uint32) + narrow);
  seed("Data", "not-text", dataOptions(Auto) + narrow);
  seed("Data", "text-as-uint16", dataOptions(Uint16) + std::string(80, 'a'));
  seed("Data", "numpy-torn",
       dataOptions(Auto) + numpyHeader("{}").substr(0, 40));
  seed("Data", "numpy-other", dataOptions(Auto) + numpyHeader("{}") + narrow);
  seed("Data", "megatron-index", dataOptions(Auto) + MegatronSeed().bytes());
  seed("Data", "gzip", dataOptions(Auto) + gzip + narrow);
  seed("Data", "arrow", dataOptions(Auto) + arrow + narrow);
  seed("Data", "parquet", dataOptions(Auto) + "PAR1" + narrow);
}

void writeRefusedHeaders() {
  std::string wide = tokensOf<uint32_t>();
  const char *tooLong = "{'descr': '<u4', 'fortran_order': False, 'shape': "
                        "(50,), }";
  seed("Data", "numpy-too-few",
       dataOptions(Auto) + numpyHeader(tooLong) + wide);
  seed("Data", "numpy-magic", dataOptions(Auto) + numpyHeader("").substr(0, 8));
}

/// Tokens of another kind, and ids that the vocabulary does not have.
void writeRefusedTokens() {
  seed("Data", "int64-as-uint32", dataOptions(Uint32) + tokensOf<int64_t>());
  std::string text, bigEndian, high;
  for (int i = 0; i < 40; ++i) {
    text += "\xC3\xA9\xE3\x81\x82\xF0\x9F\x98\x80 ";
    bigEndian += {'\0', static_cast<char>(i)};
    high += "\x64\xC8";
  }
  seed("Data", "utf-8-as-uint16", dataOptions(Uint16) + text);
  seed("Data", "big-endian", dataOptions(Uint16) + bigEndian);
  seed("Data", "high", dataOptions(Uint16) + high);
  seed("Data", "high-bytes", dataOptions(Auto) + high);
  seed("Data", "negative",
       dataOptions(Uint32) + std::string(160, '\xFF') + "\1\1\1\1");
  seed("Data", "no-sequence", dataOptions(Uint16, 0) + high);
}

void writeProcesses() {
  Agreement agreement = {{"mesh", "tp=2"}, {"seed", "1"}};
  std::string hello =
      writeHello({TESSERA_VERSION, 1, 2, 4001, "m1", agreement});
  std::string table =
      writeTable({uint64_t(1) << 63, {{"", 4000, "m0"}, {"h", 4001, "m1"}}});
  std::string refusal = writeRefusal({TSR_MISMATCH, "another version"});
  seed("Hello", "hello", '\0' + hello);
  seed("Hello", "table", '\1' + table);
  seed("Hello", "refusal", '\1' + refusal);
  auto seedHello = [](const char *name, const Hello &said) {
    seed("Hello", name, '\0' + writeHello(said));
  };
  seedHello("other-version", {"0", 1, 2, 4001, "m1", {}});
  seedHello("other-world", {TESSERA_VERSION, 1, 3, 4001, "m1", {}});
  seedHello("other-mesh", {TESSERA_VERSION, 1, 2, 1, "m", {{"mesh", "dp=2"}}});
  std::string triple = hello;
  triple.replace(triple.find("\"tp=2\""), 6, "\"tp=2\",1");
  seed("Hello", "triple", '\0' + triple);
  seed("Hello", "cookie", "\1{\"cookie\": \"1\"}");
  seed("Hello", "processes", "\1{\"cookie\": 1, \"processes\": []}");
  seed("Hello", "short-greeting", "\2greeting");
  seed("Hello", "greeting", '\2' + writeGreeting({1, 1, 2}));
  Opening opening = openingFor(Secret());
  std::string piece = bytesOf(opening) + withLength(hello);
  std::string other = bytesOf(opening).substr(0, 20);
  auto said = [](char who, const std::string &words) {
    return std::string{who, static_cast<char>(words.size())} + words;
  };
  seed("Reception", "two-callers",
       '\0' + said(0, other) + said(1, piece) + said(0, ""));
  std::string silent;
  for (char who = 0; who < 4; ++who)
    silent += said(who, "T");
  seed("Reception", "four-silent", '\0' + silent);
  seed("Reception", "no-process", '\0' + said(0, std::string(48, 'x')));
  seed("Reception", "no-secret", '\2' + said(0, bytesOf(opening)));
  seed("Reception", "long-message",
       '\0' + said(0, bytesOf(opening) + std::string(4, '\x7f')));
  opening.hasSecret = 1;
  seed("Reception", "wrong-secret",
       '\2' + said(0, bytesOf(opening) + std::string(32, 'p')));
  std::string called = bytesOf(opening);
  std::string longs, start = bytesOf(openingFor(Secret())) +
                             withLength(std::string(256, 'x')).substr(0, 200);
  for (char who = 0; who < 3; ++who)
    longs += said(who, start) + said(who, std::string(55, 'x'));
  seed("Reception", "three-long", '\0' + longs);
  auto meeting = [](const std::string &first, const std::string &second) {
    std::string words = "\4";
    for (const std::string &message : {first, second})
      words += std::string{static_cast<char>(message.size())} + message;
    return words;
  };
  seed("Reception", "meets-other-settings",
       meeting(hello, R"({"version":"x","rank":1,"world":2})"));
  seed("Reception", "meets-no-rank",
       meeting(R"({"version":"x","rank":1,"world":9})", "{}"));
  seed("Reception", "answer",
       '\1' + bytesOf(openingFor(Secret())) + withLength(table));
  seed("Reception", "answer-of-no-process", '\1' + std::string(48, 'x'));
  seed("Reception", "answer-wants-secret", '\1' + called);
  seed("Reception", "answer-has-no-secret",
       '\3' + bytesOf(openingFor(Secret())));
  seed("Reception", "answer-without-proof", '\3' + called + "proof");
  seed("Reception", "answer-wrong-proof", '\3' + called + std::string(32, 'p'));
}

void writeFrames() {
  Collective call;
  call.op = 3;
  call.axes = 2;
  call.count = 16;
  for (const char *kind : {"all_reduce", "all_to_all"})
    seed("Frame", kind, '\2' + bytesOf(frameOf({kind, call, 0, {}, {}})));
  ControlMessage here{ControlMessage::Here}, failed{ControlMessage::Failed};
  here.waitsFor[0] = 1;
  here.axes[0] = 3;
  failed.code = TSR_IO;
  failed.textBytes = 4;
  seed("Frame", "messages", '\1' + bytesOf(here) + bytesOf(failed) + "disk");
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
  writeMegatron();
  writeData();
  writeSplitData();
  writeRefusedData();
  writeRefusedHeaders();
  writeRefusedTokens();
  writeProcesses();
  writeFrames();
}
