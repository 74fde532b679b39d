//===- DataHashingTest.cpp - hashes of all that data files hold -----------===//
#include "runtime/data/Data.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

Data open(const std::string &path, const std::string &format = "auto") {
  DataOptions options;
  options.format = format;
  options.sequence = 4;
  options.vocabulary = 256;
  return Data({path}, options);
}

/// Makes a text of more than one block, with `token` at a position.
std::string textWith(char token, size_t at) {
  std::string text;
  for (int64_t i = 0; i < 700'000; ++i)
    text += static_cast<char>('a' + i * i % 23);
  text[at] = token;
  return text;
}

TEST(DataHashing, SeesEachToken) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "d.txt", before;
  for (size_t at : {0, 262'143, 262'144, 350'000, 699'999})
    for (char token : {'A', 'B'}) {
      fixture::writeFile(path, textWith(token, at));
      std::string hash = open(path).hashContents()[0];
      EXPECT_NE(hash, before) << at;
      before = hash;
    }
}

TEST(DataHashing, WidthsAndFormatsDoNotCount) {
  fixture::TemporaryDirectory directory;
  std::string text = textWith('A', 5), wide;
  for (char token : text)
    wide += std::string{token, '\0'};
  fixture::writeFile(directory / "d.txt", text);
  fixture::writeFile(directory / "d.bin", wide);
  EXPECT_EQ(open(directory / "d.txt").hashContents(),
            open(directory / "d.bin", "uint16").hashContents());
}

TEST(DataHashing, AThreadFindsTheSame) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "d.txt";
  fixture::writeFile(path, textWith('A', 5));
  std::shared_ptr<DataHashing> hashing;
  std::vector<std::string> expected;
  {
    Data data = open(path);
    hashing = data.startHashing(); // outlives what it hashes
    expected = data.hashContents();
  }
  EXPECT_EQ(hashing->wait(), expected);
  EXPECT_EQ(hashing->wait(), expected);
}

/// The hash is empty: training meets the error itself, and what was trained so
/// far is saved.
TEST(DataHashing, AFileThatIsCutHasNoHash) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "d.txt";
  fixture::writeFile(path, textWith('A', 5));
  Data data = open(path);
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(data.startHashing()->wait(), std::vector<std::string>{""});
  EXPECT_THROW(data.hashContents(), Error);
}

} // namespace
