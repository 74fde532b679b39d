//===- WeightFiles.h - weights that tests write -----------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CHECKPOINT_WEIGHTFILES_H
#define TESSERA_TEST_RUNTIME_CHECKPOINT_WEIGHTFILES_H

#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

namespace fixture {

template <class T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string data;
};

inline std::string safetensorsOf(const std::vector<Entry> &entries) {
  nlohmann::json header;
  std::string data;
  for (const Entry &entry : entries) {
    header[entry.name] = {
        {"dtype", entry.dtype},
        {"shape", entry.shape},
        {"data_offsets", {data.size(), data.size() + entry.data.size()}}};
    data += entry.data;
  }
  std::string text = header.dump();
  uint64_t length = text.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + text + data;
}

inline std::vector<float> ramp() {
  std::vector<float> values(V);
  for (int i = 0; i < V; ++i)
    values[i] = static_cast<float>(i) - 2.5f;
  return values;
}

/// Returns `ramp` in the form in which sessions return it.
inline std::vector<double> expected() {
  std::vector<float> values = ramp();
  return {values.begin(), values.end()};
}

inline Entry number(const std::string &name, float value) {
  return {name, "F32", {1}, bytesOf(std::vector<float>{value})};
}
/// The fixture's parameters: `transformer.bias`, and `transformer.w` under any
/// name.
const Entry bias = number("transformer.bias", 2);
inline Entry weight(const std::string &name) {
  return {name, "F32", {V / 2, 2}, bytesOf(ramp())};
}

/// Renames a parameter of the fixture, with its moments.
inline Change renamed(const std::string &from, const std::string &to) {
  return [=](nlohmann::json &metadata) {
    for (nlohmann::json &tensor : metadata["tensors"])
      if (tensor["name"] == from)
        tensor["name"] = to;
  };
}

/// Returns the header of a safetensors file.
inline nlohmann::json headerOf(const std::string &file) {
  uint64_t length = 0;
  std::string content = readFile(file);
  content.copy(reinterpret_cast<char *>(&length), 8);
  return nlohmann::json::parse(content.substr(8, length));
}

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_CHECKPOINT_WEIGHTFILES_H
