//===- Trie.h - the tokens that begin at a place ----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_TRIE_H
#define TESSERA_RUNTIME_TOKENIZER_TRIE_H

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Maps texts that are not empty to values that are not negative.
class Trie {
public:
  using Entry = std::pair<std::string_view, int32_t>;
  Trie() : Trie(std::vector<Entry>()) {}
  /// Builds the trie; among equal texts, the last one counts.
  explicit Trie(std::vector<Entry> entries);

  /// Calls `visit(bytes, value)` for each text that `text` begins with, the
  /// shortest first. Returns how many bytes it looked at.
  template <class Visit>
  size_t forEachPrefix(std::string_view text, const Visit &visit) const {
    uint32_t node = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      node = child(node, static_cast<unsigned char>(text[at]));
      if (node == 0)
        return at + 1;
      if (nodes[node].value >= 0)
        visit(at + 1, nodes[node].value);
    }
    return text.size();
  }

private:
  struct Node {
    uint32_t firstChild = 0;
    uint16_t children = 0;
    unsigned char label = 0; ///< The label of the edge to it.
    int32_t value = -1;
  };

  /// Returns a child; 0, the root, if there is none.
  uint32_t child(uint32_t node, unsigned char label) const {
    uint32_t first = nodes[node].firstChild, count = nodes[node].children;
    if (count == 256)
      return first + label;
    while (count > 0) { // bisects ascending labels
      uint32_t half = count / 2;
      if (nodes[first + half].label < label) {
        first += half + 1;
        count -= half + 1;
      } else
        count = half;
    }
    uint32_t end = nodes[node].firstChild + nodes[node].children;
    return first < end && nodes[first].label == label ? first : 0;
  }

  std::vector<Node> nodes;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_TRIE_H
