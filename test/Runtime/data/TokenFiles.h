//===- TokenFiles.h - files of tokens in a directory ------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_DATA_TOKENFILES_H
#define TESSERA_TEST_RUNTIME_DATA_TOKENFILES_H

#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>
#include <numeric>

namespace fixture {

template <class Integer>
std::string bytesOf(const std::vector<Integer> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Integer)};
}

template <class Integer> std::vector<Integer> idsFrom(Integer first) {
  std::vector<Integer> ids(40);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

inline const std::string shortIds = bytesOf(idsFrom<uint16_t>(1000));
inline const std::string longIds = bytesOf(idsFrom<uint32_t>(100000));
inline constexpr int64_t gpt2 = 50257, llama3 = 128256;

/// A directory, and what becomes of files in it.
class TokenFiles : public testing::Test {
protected:
  ~TokenFiles() override { tsr_data_destroy(data); }

  tsr_status open(const std::string &name, const char *format,
                  int64_t vocabulary) {
    tsr_data_destroy(data);
    data = nullptr;
    std::string path = directory / name;
    const char *paths[] = {path.c_str()};
    tsr_data_options options = {sizeof options, format, 4, vocabulary, 0, 0};
    return tsr_data_open(paths, 1, &options, &data);
  }

  void write(const std::string &name, const std::string &content) {
    writeFile(directory / name, content);
  }

  /// Reads the ids of a file that has one sequence of four and the one after.
  std::vector<int32_t> ids(const std::string &name, const std::string &content,
                           const char *format = nullptr,
                           int64_t vocabulary = llama3) {
    write(name, content);
    EXPECT_EQ(open(name, format, vocabulary), TSR_OK) << tsr_last_error();
    std::vector<int32_t> tokens(5);
    if (data) {
      EXPECT_EQ(tsr_data_tokens(data), 5);
      EXPECT_EQ(tsr_data_batch(data, 0, 1, tokens.data()), TSR_OK);
    }
    return tokens;
  }

  void expectRefused(const std::string &name, const char *format,
                     tsr_status status, const std::string &message,
                     int64_t vocabulary = gpt2) {
    SCOPED_TRACE(name);
    EXPECT_EQ(open(name, format, vocabulary), status);
    EXPECT_EQ(data, nullptr);
    EXPECT_CONTAINS(tsr_last_error(), "/" + name + "' ");
    EXPECT_CONTAINS(tsr_last_error(), message);
  }

  TemporaryDirectory directory;
  tsr_data *data = nullptr;
};

inline const std::vector<int32_t> five = {7, 128000, 65536, 0, 128255};
inline const std::vector<int32_t> fiveShort = {7, 50256, 256, 0, 1};

inline std::string inUint16() {
  return bytesOf<uint16_t>({7, 50256, 256, 0, 1});
}
inline std::string inUint32() { return bytesOf(five); }

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_DATA_TOKENFILES_H
