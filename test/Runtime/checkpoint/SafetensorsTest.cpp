//===- SafetensorsTest.cpp - headers that no tensor can have --------------===//
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Why a file of these bytes is refused.
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

/// Why a file with this header, and no data, is refused.
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

TEST(Safetensors, ShapesOfUnknownTypesHaveALimit) {
  const char *format =
      R"({"a":{"dtype":"F4","shape":[%s],"data_offsets":[0,0]}})";
  auto header = [&](const char *shape) {
    char text[200];
    std::snprintf(text, sizeof text, format, shape);
    return std::string(text);
  };
  EXPECT_EQ(refusal(header("2,3")), "");
  EXPECT_NE(refusal(header("1099511627776,1099511627776"))
                .find("'a.shape' has too many elements"),
            std::string::npos);
  EXPECT_NE(refusal(header("1099511627776,8388608"))
                .find("'a.shape' has too many elements"),
            std::string::npos);
}

TEST(Safetensors, ATensorIsThereOnce) {
  const std::string tensor =
      R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal("{" + tensor + "}"), "");
  EXPECT_NE(refusal("{" + tensor + "," + tensor + "}").find("has 'a' twice"),
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
  std::string entry = R"({"dtype":"F4","shape":[],"data_offsets":[0,0]})";
  std::string two = R"({"a":)" + entry + R"(,"a\u0000b":)" + entry + "}";
  EXPECT_NE(refusal(two).find("has a name with a zero byte"),
            std::string::npos);
}

} // namespace
