//===- ManifestTest.cpp - manifests of this version and of older ones -----===//
#include "runtime/checkpoint/Checkpoint.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

DataIdentity dataWith(const std::string &contentHash) {
  return {{{"d.txt", 100, "0123456789abcdef", 0, 0, 100, contentHash}}};
}

Manifest manifestOf(const DataIdentity &data) {
  Manifest manifest{3, 7, 3, {}, data};
  for (const char *name : {"model.safetensors", "optimizer.safetensors"})
    manifest.files.push_back({name, 10, "fedcba9876543210"});
  return manifest;
}

TEST(Manifest, KeepsTheHashOfAllTokens) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "manifest.json";
  DataIdentity data = dataWith("00000000000000aa");
  fixture::writeFile(path, writeManifest(manifestOf(data)));
  Manifest found = readManifest(InputFile(path));
  EXPECT_EQ(found.data->files[0].contentHash, "00000000000000aa");
  EXPECT_EQ(data.differenceFrom(*found.data), "");
  EXPECT_EQ(dataWith("00000000000000bb").differenceFrom(*found.data),
            "file 1 is 'd.txt' of 100 tokens (hash 00000000000000bb), it was "
            "'d.txt' of 100 tokens (hash 00000000000000aa)");
}

/// Older manifests lack the key and are compared by the hashes of their ends.
TEST(Manifest, OfBeforeKnowsTheEndsAlone) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "manifest.json";
  std::string text = writeManifest(manifestOf(dataWith("")));
  EXPECT_EQ(text.find("xxh3_64_of_blocks"), std::string::npos);
  fixture::writeFile(path, text);
  Manifest found = readManifest(InputFile(path));
  EXPECT_FALSE(found.data->hasContents());
  EXPECT_EQ(dataWith("00000000000000bb").differenceFrom(*found.data), "");
  DataIdentity other = dataWith("00000000000000bb");
  other.files[0].sampleHash = "1123456789abcdef";
  EXPECT_EQ(other.differenceFrom(*found.data),
            "file 1 is 'd.txt' of 100 tokens (hash 1123456789abcdef), it was "
            "'d.txt' of 100 tokens (hash 0123456789abcdef)");
}

} // namespace
