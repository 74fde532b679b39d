//===- Texts.h - files and encodings of the tokenizer's tests ---*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_TOKENIZER_TEXTS_H
#define TESSERA_TEST_RUNTIME_TOKENIZER_TEXTS_H

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace texts {

using Ids = std::vector<int32_t>;

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &content,
                         const std::string &suffix = "") {
    char name[] = "/tmp/tokenizer-XXXXXX";
    int descriptor = mkstemp(name);
    close(descriptor);
    std::remove(name);
    place = name + suffix;
    std::ofstream(place, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(place.c_str()); }
  const std::string &path() const { return place; }

private:
  std::string place;
};

inline std::string decodeBase64(const std::string &text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (char c : text) {
    const std::string digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t value = digits.find(c);
    if (value == std::string::npos)
      break;
    bits = bits << 6 | static_cast<unsigned>(value);
    if ((count += 6) >= 8)
      bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

inline bool isUtf8(const std::string &text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception &) {
    return false;
  }
}

} // namespace texts

#endif // TESSERA_TEST_RUNTIME_TOKENIZER_TEXTS_H
