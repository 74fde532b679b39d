#include "runtime/tokenizer/ProtoReader.h"

#include "runtime/support/Status.h"

#include <cstring>

namespace tessera {

float ProtoReader::Field::asFloat() const {
  auto bits = static_cast<uint32_t>(value);
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

void ProtoReader::refuse(const std::string &what) const {
  fail(TSR_CORRUPT, where, " is torn at byte ", at(), " of ", size, ": ", what);
}

uint64_t ProtoReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (left.empty())
      refuse("a number does not end");
    auto byte = static_cast<unsigned char>(left[0]);
    left.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80)
      return value;
  }
  refuse("a number has more than ten bytes");
}

uint64_t ProtoReader::fixed(size_t bytes) {
  if (left.size() < bytes)
    refuse("a number does not end");
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(left[i]))
             << 8 * i;
  left.remove_prefix(bytes);
  return value;
}

bool ProtoReader::next(Field &field) {
  if (left.empty())
    return false;
  constexpr uint64_t mostFields = uint64_t(1) << 29;
  uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 >= mostFields)
    refuse("there is no field " + std::to_string(tag >> 3));
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire = static_cast<Wire>(tag & 7);
  switch (field.wire) {
  case Wire::Number:
    field.value = varint();
    return true;
  case Wire::Fixed64:
    field.value = fixed(8);
    return true;
  case Wire::Fixed32:
    field.value = fixed(4);
    return true;
  case Wire::Bytes: {
    uint64_t bytes = varint();
    if (bytes > left.size())
      refuse("a field of " + std::to_string(bytes) + " bytes does not end");
    field.bytes = left.substr(0, static_cast<size_t>(bytes));
    left.remove_prefix(field.bytes.size());
    return true;
  }
  }
  refuse("there is no kind " + std::to_string(tag & 7) + " of fields");
}

} // namespace tessera
