//===- SafetensorsTest.cpp - headers that no tensor can have --------------===//
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Why a file with this header, and no data, is refused.
std::string refusal(const std::string &header) {
  fixture::TemporaryDirectory directory;
  std::string path = directory / "x.safetensors";
  uint64_t length = header.size();
  fixture::writeFile(
      path,
      std::string(reinterpret_cast<char *>(&length), sizeof length) + header);
  try {
    SafetensorsFile file(path);
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_CORRUPT);
    return error.status.message;
  }
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

/// One name is the beginning of the other, where C's strings end.
TEST(Safetensors, NamesHoldNoZeroByte) {
  std::string entry = R"({"dtype":"F4","shape":[],"data_offsets":[0,0]})";
  std::string two = R"({"a":)" + entry + R"(,"a\u0000b":)" + entry + "}";
  EXPECT_NE(refusal(two).find("has a name with a zero byte"),
            std::string::npos);
}

} // namespace
