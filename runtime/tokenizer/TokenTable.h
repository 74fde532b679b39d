//===- TokenTable.h - tokens by their texts and by their ids ----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_TOKENTABLE_H
#define TESSERA_RUNTIME_TOKENIZER_TOKENTABLE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Differs from process to process: who writes a file cannot know which texts
/// collide.
uint64_t hashSeed();
uint64_t hashOf(std::string_view text);

/// Open addressing; texts lie one after the other.
class TokenTable {
public:
  static constexpr int32_t none = -1;
  /// Ids are below; a file that names larger ones is taken for broken.
  static constexpr int32_t mostIds = 1 << 24;
  /// Bytes of one text and of all: published tokens have less than 2000, all of
  /// a vocabulary less than 2^23.
  static constexpr size_t longestText = 1 << 16, mostBytes = 1 << 26;

  /// A text that is there already gets the new id. TSR_UNSUPPORTED: it is too
  /// long, or all are.
  void add(std::string_view text, int32_t id);
  /// Returns the id of a text; `none` if there is no such token.
  int32_t find(std::string_view text) const;
  /// Returns the texts.
  size_t size() const { return entries.size(); }
  /// Returns the largest id and one.
  int32_t end() const { return static_cast<int32_t>(byId.size()); }
  bool has(int32_t id) const {
    return id >= 0 && id < end() && byId[id] != noEntry;
  }
  /// Returns the text of an id, which must be there.
  std::string_view text(int32_t id) const { return textOf(entries[byId[id]]); }

  template <class Visit> void forEach(const Visit &visit) const {
    for (const Entry &entry : entries)
      visit(textOf(entry), entry.id);
  }

private:
  struct Entry {
    uint64_t hash;
    uint32_t offset, length;
    int32_t id;
  };
  static constexpr uint32_t noEntry = UINT32_MAX;

  std::string_view textOf(const Entry &entry) const {
    return std::string_view(texts).substr(entry.offset, entry.length);
  }
  /// The slot of a text, or the empty one where it belongs.
  size_t slotOf(std::string_view text, uint64_t hash) const;
  void grow();

  std::string texts;
  std::vector<Entry> entries;
  std::vector<uint32_t> slots; ///< Entries; a power of two of them.
  std::vector<uint32_t> byId;  ///< Entries.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_TOKENTABLE_H
