//===- ProtoReader.h - protobuf's wire format, within bounds ----*- C++ -*-===//
// The fields of one message of protobuf, without its definition
// (protobuf.dev/programming-guides/encoding). Nothing is copied.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PROTOREADER_H
#define TESSERA_RUNTIME_TOKENIZER_PROTOREADER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

class ProtoReader {
public:
  enum class Wire { Number = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  struct Field {
    uint32_t number = 0;
    Wire wire = Wire::Number;
    uint64_t value = 0;     ///< Set for all kinds but Bytes.
    std::string_view bytes; ///< Set for Bytes.

    bool is(uint32_t wanted, Wire kind) const {
      return number == wanted && wire == kind;
    }
    float asFloat() const;
  };

  /// `where` names the message in errors.
  ProtoReader(std::string_view message, std::string where)
      : left(message), size(message.size()), where(std::move(where)) {}

  /// Reads the next field; false at the end. TSR_CORRUPT: a field is torn, or
  /// of a kind that no message of sentencepiece has.
  bool next(Field &field);
  /// Returns where the next field begins.
  size_t at() const { return size - left.size(); }

private:
  uint64_t varint();
  uint64_t fixed(size_t bytes);
  [[noreturn]] void refuse(const std::string &what) const;

  std::string_view left;
  size_t size;
  std::string where;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PROTOREADER_H
