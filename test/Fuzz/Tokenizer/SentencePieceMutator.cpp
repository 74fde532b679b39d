//===- SentencePieceMutator.cpp - models that stay protobuf ---------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/ProtoReader.h"
#include "test/Fuzz/Tokenizer/TextMutation.h"

#include <cstring>
#include <vector>

using namespace fuzzed;
using tessera::ProtoReader;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {
struct Field {
  uint32_t number;
  ProtoReader::Wire wire;
  uint64_t value;
  std::string bytes;
};
using Message = std::vector<Field>;
} // namespace

static bool parse(const std::string &bytes, Message &message) {
  try {
    ProtoReader reader(bytes, "model");
    for (ProtoReader::Field field; reader.next(field);)
      message.push_back(
          {field.number, field.wire, field.value, std::string(field.bytes)});
    return true;
  } catch (const tessera::Error &) {
    return false;
  }
}

static std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7)
    bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

static std::string write(const Message &message) {
  std::string out;
  for (const Field &field : message) {
    out +=
        varint(uint64_t(field.number) << 3 | static_cast<uint64_t>(field.wire));
    if (field.wire == ProtoReader::Wire::Number)
      out += varint(field.value);
    else if (field.wire == ProtoReader::Wire::Bytes)
      out += varint(field.bytes.size()) + field.bytes;
    else
      out.append(reinterpret_cast<const char *>(&field.value),
                 field.wire == ProtoReader::Wire::Fixed64 ? 8 : 4);
  }
  return out;
}

/// Overwrites a unit of a table of rules.
static void changeTable(std::string &bytes, Random &random) {
  uint32_t unit = 0;
  size_t at = 4 * below(random, bytes.size() / 4);
  std::memcpy(&unit, &bytes[at], 4);
  unit ^= 1u << below(random, 32);
  std::memcpy(&bytes[at], &unit, 4);
}

static void change(Message &message, Random &random, int depth) {
  if (message.empty())
    return;
  size_t at = below(random, message.size());
  Field &field = message[at];
  Message inner;
  size_t kind = below(random, 8);
  if (kind == 0)
    return void(message.erase(message.begin() + at));
  if (kind == 1)
    return void(message.insert(message.begin() + at,
                               Field(message[below(random, message.size())])));
  if (field.wire == ProtoReader::Wire::Number)
    field.value = below(random, 2) == 0
                      ? below(random, 8)
                      : static_cast<uint64_t>(1) << below(random, 64);
  else if (field.wire != ProtoReader::Wire::Bytes) {
    auto number = static_cast<float>(edgeNumber(random));
    std::memcpy(&field.value, &number, sizeof number);
  } else if (depth == 0 && parse(field.bytes, inner)) {
    change(inner, random, depth + 1);
    field.bytes = write(inner);
  } else if (field.bytes.size() >= 512 && kind < 7)
    changeTable(field.bytes, random);
  else
    field.bytes = changeText(field.bytes, random);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  Random random(seed);
  TextAndFile input(data, size);
  Message message;
  if (!parse(input.file, message) || below(random, 8) == 0)
    return LLVMFuzzerMutate(data, size, most);
  if (below(random, 3) == 0)
    input.text = changeText(input.text, random);
  for (size_t changes = below(random, 4); changes > 0; --changes)
    change(message, random, 0);
  input.file = write(message);
  return input.write(data, most);
}
