//===- SafetensorsTest.cpp - headers that no tensor can have --------------===//
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Returns why a file of these bytes is refused.
std::string refusalOf(const std::string &content) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "x.safetensors";
  fixture::writeFile(path, content);
  try {
    SafetensorsFile file(path);
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_CORRUPT);
    return error.status.message;
  }
}

std::string lengthOf(uint64_t length) {
  return std::string(reinterpret_cast<char *>(&length), sizeof length);
}

/// Returns why a file with this header, and no data, is refused.
std::string refusal(const std::string &header) {
  return refusalOf(lengthOf(header.size()) + header);
}

TEST(Safetensors, HeaderMustFitTheFile) {
  EXPECT_EQ(refusalOf(lengthOf(2) + "{}"), "");
  EXPECT_NE(refusalOf(lengthOf(2).substr(0, 7))
                .find("has 7 bytes, a safetensors file has at least 8"),
            std::string::npos);
  for (uint64_t length : {3, 10, 11})
    EXPECT_NE(refusalOf(lengthOf(length) + "{}")
                  .find(concat("says its header has ", length,
                               " bytes, the file has 10;")),
              std::string::npos);
}

/// The format's own package, safetensors 0.8.0, accepts and refuses the same.
TEST(Safetensors, TypesAndShapesGiveTheBytes) {
  auto entry = [](const std::string &dtype, const std::string &shape,
                  size_t bytes) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
           R"(,"data_offsets":[0,)" + std::to_string(bytes) + "]}}";
  };
  auto refusalWith = [&](const std::string &dtype, const std::string &shape,
                         size_t bytes) {
    std::string header = entry(dtype, shape, bytes);
    return refusalOf(lengthOf(header.size()) + header +
                     std::string(bytes, 'x'));
  };
  for (const char *dtype : {"U8", "I8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0",
                            "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
    EXPECT_EQ(refusalWith(dtype, "[2,3]", 6), "");
  for (const char *dtype : {"F16", "BF16", "I16", "U16"})
    EXPECT_EQ(refusalWith(dtype, "[2,3]", 12), "");
  for (const char *dtype : {"F64", "I64", "U64", "C64"})
    EXPECT_EQ(refusalWith(dtype, "[]", 8), "");
  EXPECT_EQ(refusalWith("F4", "[2,3]", 3), "");
  EXPECT_EQ(refusalWith("F6_E2M3", "[4]", 3), "");
  EXPECT_EQ(refusalWith("F32", "[0,5]", 0), "");
  EXPECT_EQ(refusalWith("U8", "[0,1099511627776,1099511627776]", 0), "");
  const struct {
    const char *dtype, *shape;
    size_t bytes;
    const char *why;
  } cases[] = {
      {"F4", "[3]", 1, "'a.shape' has 3 elements of 4 bits"},
      {"U8", "[3]", 2, "'a.data_offsets' hold 2 bytes, U8 [3] has 3"},
      {"F32", "[1]", 8, "'a.data_offsets' hold 8 bytes, F32 [1] has 4"},
      {"F128", "[1]", 16, "'a.dtype' is 'F128', which is no type"},
      {"f32", "[1]", 4, "'a.dtype' is 'f32', which is no type"},
      {"U8", "[-1]", 1, "must be an integer from 0"},
      {"U8", "[1.0]", 1, "must be an integer from 0"},
      {"U8", "[-0]", 0, "must be an integer from 0"},
      {"U8", "[\"1\"]", 1, "must be an integer from 0"},
      {"U8", "[18446744073709551616]", 1, "must be an integer from 0"},
      {"U8", "1", 1, "must be an array"},
      {"U8", "[1099511627776,1099511627776]", 1, "has too many elements"},
      {"U8", "[1099511627776,1099511627776,0]", 0, "has too many elements"},
      {"F64", "[2305843009213693952]", 1, "has too many elements"},
  };
  for (const auto &[dtype, shape, bytes, why] : cases)
    EXPECT_CONTAINS(refusalWith(dtype, shape, bytes), why);
}

/// Makes a header of U8 tensors from their begins and ends.
std::string
tensorsAt(const std::vector<std::pair<std::string, std::pair<int, int>>> &all) {
  std::string header;
  for (const auto &[name, range] : all)
    header += concat(
        header.empty() ? "{" : ",", "\"", name, R"(":{"dtype":"U8","shape":[)",
        std::max(0, range.second - range.first), R"(],"data_offsets":[)",
        range.first, ",", range.second, "]}");
  header += header.empty() ? "{}" : "}";
  return lengthOf(header.size()) + header;
}

TEST(Safetensors, TensorsFillTheData) {
  EXPECT_EQ(refusalOf(tensorsAt({{"a", {0, 2}}, {"b", {2, 3}}}) + "xyz"), "");
  EXPECT_EQ(refusalOf(tensorsAt({{"a", {2, 3}}, {"b", {0, 2}}}) + "xyz"), "");
  EXPECT_EQ(refusalOf(tensorsAt({{"a", {0, 2}}, {"e", {2, 2}}, {"b", {2, 3}}}) +
                      "xyz"),
            "");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 2}}, {"b", {1, 3}}}) + "xyz"),
                  "'a' ends at byte 2, but 'b' begins at byte 1; tensors must "
                  "not share bytes: save the file again");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 2}}, {"b", {0, 2}}}) + "xy"),
                  "'a' ends at byte 2, but 'b' begins at byte 0; tensors must");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 1}}, {"b", {2, 3}}}) + "xyz"),
                  "'a' ends at byte 1, but 'b' begins at byte 2; the 1 bytes "
                  "between belong to none");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {1, 2}}}) + "xy"),
                  "the data begins at byte 0, but 'a' begins at byte 1; the 1");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 2}}, {"e", {1, 1}}}) + "xy"),
                  "'a' ends at byte 2, but 'e' begins at byte 1; tensors must");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 2}}, {"e", {9, 9}}}) + "xy"),
                  "'a' ends at byte 2, but 'e' begins at byte 9; the 7 bytes");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {2, 1}}}) + "xy"),
                  "must be [begin, end]");
  EXPECT_CONTAINS(refusalOf(tensorsAt({{"a", {0, 1}}}) + "x..."),
                  "has 4 bytes of data, its tensors have 1; the 3 bytes after "
                  "the last belong to none");
  EXPECT_CONTAINS(refusalOf(tensorsAt({}) + "x"),
                  "its tensors have 0; the 1 bytes");
  EXPECT_CONTAINS(
      refusalOf(tensorsAt({{"a", {0, 2}}, {"b", {2, 4}}}) + "xyz"),
      "has 3 bytes of data, its header says 4 (the last is 'b'); it "
      "was cut off: copy or download it again");
}

TEST(Safetensors, HeaderIsAnObjectAndSpaces) {
  EXPECT_EQ(refusal("{}   "), "");
  for (const char *header : {" {}", "\xEF\xBB\xBF{}", "[]", ""})
    EXPECT_CONTAINS(refusal(header), "does not begin with '{'");
  EXPECT_CONTAINS(refusal(std::string("{}\0\0", 4)), "has a zero byte at 2");
  for (const char *header : {"{}x", "{/**/}", "{\"\xFF\":1}"})
    EXPECT_CONTAINS(refusal(header), "is not JSON");
}

TEST(Safetensors, MetadataAreTexts) {
  EXPECT_EQ(refusal(R"({"__metadata__":{"a":"b"}})"), "");
  EXPECT_EQ(refusal(R"({"__metadata__":null})"), "");
  EXPECT_CONTAINS(refusal(R"({"__metadata__":{"a":1}})"),
                  "'__metadata__' must be an object of strings, but 'a' is "
                  "number");
  EXPECT_CONTAINS(refusal(R"({"__metadata__":[]})"),
                  "'__metadata__' must be an object of strings");
  EXPECT_CONTAINS(refusal(R"({"__metadata__":{},"__metadata__":{}})"),
                  "the key '__metadata__' comes twice");
}

TEST(Safetensors, ATensorIsThereOnce) {
  const std::string tensor =
      R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal("{" + tensor + "}"), "");
  EXPECT_NE(refusal("{" + tensor + "," + tensor + "}")
                .find("the key 'a' comes twice"),
            std::string::npos);
}

TEST(Safetensors, DataIsAligned) {
  for (size_t letters = 1; letters <= 9; ++letters) {
    std::string header = safetensorsHeader(
        {{std::string(letters, 'x'), "F32", {}, 4}, {"y", "F64", {2}, 16}});
    uint64_t length;
    std::memcpy(&length, header.data(), sizeof length);
    EXPECT_EQ(length, header.size() - sizeof length);
    EXPECT_EQ(length % 8, 0u);
    size_t text = header.find_last_not_of(' ') + 1;
    EXPECT_LT(header.size() - text, 8u);
    EXPECT_NE(header.find(R"("y":{"dtype":"F64","shape":[2],)"
                          R"("data_offsets":[4,20]})"),
              std::string::npos)
        << header;
  }
}

/// One name is the beginning of the other, where C's strings end.
TEST(Safetensors, NamesHoldNoZeroByte) {
  std::string entry = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  std::string two = R"({"a":)" + entry + R"(,"a\u0000b":)" + entry + "}";
  EXPECT_NE(refusal(two).find("has a name with a zero byte"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Files that are something else
//===----------------------------------------------------------------------===//

std::string refusalOfFile(const std::string &name, const std::string &content) {
  fixture::TemporaryDirectory directory;
  fixture::writeFile(directory / name, content);
  try {
    SafetensorsFile file(directory / name);
    return "";
  } catch (const Error &error) {
    return error.status.message;
  }
}

TEST(Safetensors, OtherFormatsAreNamed) {
  const struct {
    const char *name;
    std::string content;
    const char *why;
  } cases[] = {
      {"w.safetensors", std::string("PK\x03\x04", 4) + std::string(99, 'x'),
       "is a zip archive, as torch.save writes pickles"},
      {"w.bin", "\x80\x02" + std::string(99, 'x'),
       "is weights of PyTorch in a pickle, which is a program and is not run, "
       "not safetensors; load it with transformers and save it with "
       "model.save_pretrained(DIRECTORY, safe_serialization=True)"},
      {"w.gguf", "GGUF" + std::string(99, '\3'), "is a GGUF file of llama.cpp"},
      {"flax_model.msgpack", std::string(99, '\x81'), "weights of Flax"},
      {"tf_model.h5", "\x89HDF\r\n\x1A\n" + std::string(99, 'x'),
       "weights of TensorFlow in HDF5"},
      {"consolidated.00.pth", std::string(99, 'x'),
       "in the format of the model's authors"},
      {"model.safetensors", "<!DOCTYPE html><title>401</title>",
       "is a page of HTML and no weights"},
  };
  for (const auto &[name, content, why] : cases)
    EXPECT_CONTAINS(refusalOfFile(name, content), why);
}

TEST(Safetensors, APointerOfGitLfsIsNamed) {
  std::string pointer = "version https://git-lfs.github.com/spec/v1\noid "
                        "sha256:" +
                        std::string(64, '0') + "\nsize 548105171\n";
  EXPECT_CONTAINS(refusalOfFile("model.safetensors", pointer),
                  "model.safetensors': it is a pointer of Git LFS, " +
                      std::to_string(pointer.size()) +
                      " bytes of text in place of the 548105171 bytes of the "
                      "file itself; fetch it with: git lfs pull");
  // No pointer is as long as this.
  EXPECT_CONTAINS(refusalOfFile("m", pointer + std::string(1024, 'x')),
                  "no safetensors file");
}

} // namespace
