//===- Seeds.cpp - writes what the corpora begin with ---------------------===//
// Real files and messages of the runtime, of the tests' fixture. After a change
// of a format: FuzzSeeds test/Fuzz/Runtime/corpus
#include "runtime/artifact/Artifact.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/collectives/process/Frames.h"
#include "runtime/collectives/process/Handshake.h"
#include "runtime/collectives/process/Hello.h"
#include "test/Runtime/fixture/Fixture.h"

#include <cstdio>
#include <filesystem>

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

/// On a mesh with stages, with every optional key.
nlohmann::json everyKey() {
  nlohmann::json metadata = fixture::metadataOf(2, 2);
  metadata["pipeline"] = {{"axis", "dp"}};
  int64_t bytes = metadata["arena"]["bytes"];
  metadata["arena"] = {{"bytes", bytes},
                       {"by_kind", {{"weights", 64}, {"inputs", 8}}},
                       {"stages", {{{"bytes", bytes}}, {{"bytes", bytes}}}}};
  metadata["model"].update({{"mask_token", 1},
                            {"token_types", 2},
                            {"target", 1},
                            {"start_token", 0},
                            {"pad_token", 0}});
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json &tensor : metadata["tensors"]) {
    tensor["offsets"] = {tensor["offset"], -1};
    if (tensor["name"] != "labels")
      kept.push_back(tensor);
  }
  kept[5]["partial"] = nlohmann::json::array();
  metadata["tensors"] = kept;
  return metadata;
}

// The private key of the first example in RFC 8032, section 7.1.
constexpr const char *publishedKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";

std::string signedOne(const std::string &content) {
  fixture::TemporaryDirectory directory;
  fixture::writeFile(directory / "model.tsr", content);
  fixture::writeFile(directory / "key.pem", publishedKey);
  return signArtifact(directory / "model.tsr",
                      PrivateKey(directory / "key.pem"));
}

void writeArtifacts() {
  nlohmann::json small = fixture::metadataOf(1, 1);
  seed("Metadata", "fixture-1x1", small.dump());
  seed("Metadata", "fixture-2x2", fixture::metadataOf(2, 2).dump());
  std::string all = everyKey().dump();
  parseMetadata("every-key", all); // it is of use only if it is accepted
  seed("Metadata", "every-key", all);
  seed("Code", "fixture-1x1", fixture::codeOf(1, 1));
  small["tensors"] = small["ops"] = nlohmann::json::array();
  std::string artifact =
      fixture::artifactOf(small.dump(), fixture::codeOf(1, 1));
  seed("Artifact", "no-tensors", artifact);
  seed("Artifact", "signed", signedOne(artifact));
}

void writeCheckpoint() {
  fixture::Training training(1, 1);
  std::string directory = training.directory / "saved";
  training.step(0);
  if (tsr_session_save(training.session, directory.c_str()) != TSR_OK)
    throw std::runtime_error(tsr_last_error());
  for (const auto &step : std::filesystem::directory_iterator(directory)) {
    if (!step.is_directory())
      continue;
    std::string path = step.path();
    seed("Manifest", "fixture", readFile(path + "/" + manifestFile));
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
}

void writeData() {
  std::string tokens;
  for (int i = 0; i < 40; ++i)
    tokens += bytesOf(static_cast<uint16_t>(i));
  int32_t header[256] = {20240520, 1, 40};
  auto options = [](int format, int sequence, int target) {
    std::string bytes;
    for (int byte : {format, sequence, target, 64, 0})
      bytes.push_back(static_cast<char>(byte));
    return bytes;
  };
  seed("Data", "text", options(1, 4, 0) + "To be, or not to be: that is");
  seed("Data", "uint16", options(2, 4, 0) + tokens);
  seed("Data", "pairs-in-two-files", options(2 + 4, 4, 3) + tokens);
  seed("Data", "llmc", options(3, 4, 0) + bytesOf(header) + tokens);
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
  seed("Hello", "greeting", '\2' + writeGreeting({1, 1, 2}));
  Opening opening = openingFor(Secret());
  std::string piece = bytesOf(opening) + withLength(hello);
  std::string other = bytesOf(opening).substr(0, 20);
  auto said = [](char who, const std::string &words) {
    return std::string{who, static_cast<char>(words.size())} + words;
  };
  seed("Reception", "two-callers",
       '\0' + said(0, other) + said(1, piece) + said(0, ""));
  opening.hasSecret = 1;
  seed("Reception", "wrong-secret",
       '\2' + said(0, bytesOf(opening) + std::string(32, 'p')));
  seed("Reception", "answer",
       '\1' + bytesOf(openingFor(Secret())) + withLength(table));
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
  writeData();
  writeProcesses();
  writeFrames();
}
