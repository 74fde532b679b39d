//===- ByteTokenizer.cpp - texts as their bytes ---------------------------===//

#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"

namespace tessera {

namespace {
class ByteTokenizer : public Tokenizer {
public:
  void encode(std::string_view text, tsr_special,
              std::vector<int32_t> &ids) override {
    for (char byte : text)
      ids.push_back(static_cast<unsigned char>(byte));
  }
  std::string decode(const std::vector<int32_t> &ids,
                     tsr_special) const override {
    std::string storage, bytes(ids.begin(), ids.end());
    return std::string(validUtf8(bytes, storage));
  }
  int32_t vocabularySize() const override { return 256; }
  int32_t idOf(std::string_view token) const override {
    return token.size() == 1 ? static_cast<unsigned char>(token[0]) : -1;
  }
  bool appendBytesOf(int32_t id, tsr_special,
                     std::string &bytes) const override {
    bytes += static_cast<char>(id);
    return true;
  }
  int byteOf(int32_t id) const override { return id; }
};
} // namespace

std::unique_ptr<Tokenizer> makeByteTokenizer() {
  return std::make_unique<ByteTokenizer>();
}

} // namespace tessera
