//===- Pieces.h - parts of a text on their way to the model -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PIECES_H
#define TESSERA_RUNTIME_TOKENIZER_PIECES_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace tessera {

struct Piece {
  std::string_view text;
  int32_t token = -1;  ///< An added token, or -1.
  bool isFirst = true; ///< It begins where the original text does.

  bool isToken() const { return token >= 0; }
  Piece part(size_t begin, size_t end) const {
    return {text.substr(begin, end - begin), token, isFirst && begin == 0};
  }
};

/// Texts that pieces are of, where the input does not hold them. Kept from text
/// to text.
class TextArena {
public:
  /// Returns a copy of both, one after the other.
  std::string_view join(std::string_view first, std::string_view second) {
    size_t bytes = first.size() + second.size();
    char *place = reserve(bytes);
    std::copy(first.begin(), first.end(), place);
    std::copy(second.begin(), second.end(), place + first.size());
    return {place, bytes};
  }
  /// Whatever was kept is gone.
  void clear() {
    if (blocks.size() > 1) // the text was long
      blocks.clear();
    used = 0;
  }

private:
  char *reserve(size_t bytes) {
    if (blocks.empty() || used + bytes > blocks.back().size) {
      size_t size = bytes > blockBytes ? bytes : blockBytes;
      blocks.push_back({std::unique_ptr<char[]>(new char[size]), size});
      used = 0;
    }
    char *place = blocks.back().bytes.get() + used;
    used += bytes;
    return place;
  }

  static constexpr size_t blockBytes = 1 << 16;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Block> blocks;
  size_t used = 0;
};

using Pieces = std::vector<Piece>;

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PIECES_H
