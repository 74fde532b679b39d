//===- Files.h - tokenizers' files, changed ---------------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_TOKENIZER_FILES_H
#define TESSERA_TEST_RUNTIME_TOKENIZER_FILES_H

#include "test/Runtime/tokenizer/Texts.h"

#include "tessera/tokenizer.hpp"

#include <gtest/gtest.h>

namespace texts {

inline std::string family(const char *name) {
  return std::string(TOKENIZERS) + "/" + name;
}

/// Returns the file of a family with one value changed.
inline nlohmann::json changed(const char *name, const char *place,
                              const nlohmann::json &value) {
  nlohmann::json file =
      nlohmann::json::parse(readFile(family(name) + "/tokenizer.json"));
  file[nlohmann::json::json_pointer(place)] = value;
  return file;
}

inline std::string refusal(const std::string &content, tsr_status code) {
  TemporaryFile file(content);
  try {
    tessera::Tokenizer tokenizer(file.path());
    return "taken";
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), code) << error.what();
    return error.what();
  }
}

inline void expectRefused(const nlohmann::json &file, tsr_status code,
                          const std::string &part) {
  std::string message = refusal(file.dump(), code);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

/// Opens a file that exists for as long as it takes.
inline tessera::Tokenizer open(const std::string &content,
                               const std::string &suffix = "") {
  TemporaryFile file(content, suffix);
  return tessera::Tokenizer(file.path());
}

/// Returns the error of `act`, which must have this code.
template <class Act> std::string errorOf(tsr_status code, const Act &act) {
  try {
    act();
    return "none";
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), code) << error.what();
    return error.what();
  }
}

inline void expectIn(const std::string &part, const std::string &message) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

} // namespace texts

#endif // TESSERA_TEST_RUNTIME_TOKENIZER_FILES_H
