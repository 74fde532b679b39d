//===- TokenizerMutator.cpp - files that stay JSON when they change -------===//
#include "test/Fuzz/Tokenizer/TextMutation.h"

#include <nlohmann/json.hpp>

#include <iterator>

using namespace fuzzed;
using nlohmann::json;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// Collects all values of a file, in order.
static void collect(json &value, std::vector<json *> &values) {
  values.push_back(&value);
  if (value.is_structured())
    for (json &item : value)
      collect(item, values);
}

static json part(Random &random) {
  static const char *const parts[] = {
      R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})",
      R"({"type":"Replace","pattern":{"Regex":"a*"},"content":"b"})",
      R"({"type":"Strip","strip_left":true,"strip_right":true})",
      R"({"type":"Strip","content":" ","start":1,"stop":1})",
      R"({"type":"Prepend","prepend":"▁"})",
      R"({"type":"NFKD"})",
      R"({"type":"NFC"})",
      R"({"type":"Lowercase"})",
      R"({"type":"StripAccents"})",
      R"({"type":"Nmt"})",
      R"({"type":"Fuse"})",
      R"({"type":"ByteFallback"})",
      R"({"type":"Whitespace"})",
      R"({"type":"WhitespaceSplit"})",
      R"({"type":"Digits","individual_digits":true})",
      R"({"type":"Punctuation","behavior":"Contiguous"})",
      R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true})",
      R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":false})",
      R"({"type":"Split","pattern":{"Regex":"(a+)+b"},"behavior":"Isolated","invert":false})",
      R"({"type":"Split","pattern":{"String":""},"behavior":"MergedWithNext","invert":true})",
      R"({"type":"BPEDecoder","suffix":"</w>"})",
      R"({"type":"WordPiece","prefix":"##","cleanup":true})"};
  return json::parse(parts[below(random, std::size(parts))]);
}

static json number(Random &random) {
  double edge = edgeNumber(random);
  bool isWhole =
      edge > -9e18 && edge < 9e18 && edge == static_cast<int64_t>(edge);
  return isWhole ? json(static_cast<int64_t>(edge)) : json(edge);
}

static void changeArray(json &value, Random &random) {
  size_t at = below(random, value.size());
  if (value.empty() || below(random, 2) == 0)
    value.insert(value.begin() + at, part(random));
  else if (below(random, 2) == 0)
    value.erase(at);
  else
    value.push_back(json(value[at]));
}

static void changeObject(json &value, Random &random) {
  if (value.empty() || value.contains("type")) {
    json inner = below(random, 2) == 0 ? part(random) : json(value);
    static const char *const lists[] = {"normalizers", "pretokenizers",
                                        "decoders", "processors"};
    if (below(random, 3) != 0)
      value = {{"type", "Sequence"},
               {lists[below(random, 4)], json::array({inner, value})}};
    else
      value = part(random);
    return;
  }
  auto member = value.begin();
  std::advance(member, below(random, value.size()));
  json content = member.value();
  std::string key = member.key();
  if (below(random, 2) == 0)
    value.erase(key);
  value[changeText(key, random)] = std::move(content);
}

static void change(std::vector<json *> &values, Random &random) {
  json &value = *values[below(random, values.size())];
  size_t kind = below(random, 8);
  if (kind == 0)
    value = json(*values[below(random, values.size())]);
  else if (kind == 1)
    value = nullptr;
  else if (value.is_string())
    value = changeText(value.get<std::string>(), random);
  else if (value.is_number())
    value = number(random);
  else if (value.is_boolean())
    value = !value.get<bool>();
  else if (value.is_array())
    changeArray(value, random);
  else if (value.is_object())
    changeObject(value, random);
  else
    value = part(random);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  Random random(seed);
  TextAndFile input(data, size);
  json file = json::parse(input.file, nullptr, false);
  if (file.is_discarded() || below(random, 8) == 0)
    return LLVMFuzzerMutate(data, size, most);
  if (below(random, 3) == 0)
    input.text = changeText(input.text, random);
  for (size_t changes = below(random, 4); changes > 0; --changes) {
    std::vector<json *> values;
    collect(file, values);
    change(values, random);
  }
  input.file = file.dump(-1, ' ', false, json::error_handler_t::replace);
  return input.write(data, most);
}
