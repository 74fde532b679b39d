//===- ManifestTarget.cpp - manifest.json of a checkpoint -----------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/Json.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;
using nlohmann::json;

static bool isSamePosition(const Manifest &a, const Manifest &b) {
  if (!a.position || !b.position)
    return a.position.has_value() == b.position.has_value();
  return a.position->sequences == b.position->sequences &&
         a.position->sequence == b.position->sequence &&
         a.position->target == b.position->target &&
         a.position->ofFiles == b.position->ofFiles;
}

static bool isSame(const Manifest &a, const Manifest &b) {
  bool same = a.step == b.step && a.seed == b.seed &&
              a.nextDataStep == b.nextDataStep &&
              a.files.size() == b.files.size() &&
              a.data.has_value() == b.data.has_value() &&
              (!a.data || a.data->differenceFrom(*b.data).empty()) &&
              isSamePosition(a, b) && a.modelKeys == b.modelKeys &&
              a.trainingKeys == b.trainingKeys && a.base.path == b.base.path &&
              a.base.tensors == b.base.tensors && a.records == b.records;
  for (size_t i = 0; same && i < a.files.size(); ++i)
    same = a.files[i].name == b.files[i].name &&
           a.files[i].bytes == b.files[i].bytes &&
           a.files[i].hash == b.files[i].hash;
  return same;
}

static Manifest read(std::string_view content) {
  MemoryFile memory(content);
  InputFile file(memory.path());
  return readManifest(file);
}

static void readTwice(std::string_view content) {
  accepts([&] {
    Manifest manifest = read(content);
    require(isSame(manifest, read(writeManifest(manifest))),
            "a manifest is read as it was written");
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view content(reinterpret_cast<const char *>(data), size);
  readTwice(content);
  // With its own hash, which a fuzzer does not find.
  json value = json::parse(content, nullptr, false);
  if (!value.is_object())
    return 0;
  value.erase("hash");
  std::string rest = value.dump();
  value["hash"] = hashText(hashBytes(rest.data(), rest.size()));
  readTwice(value.dump());
  return 0;
}
