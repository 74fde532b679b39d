//===- WordCache.h - ids of words that were met -----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H
#define TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Few words make up most of a text. When it is full it is emptied, so that its
/// memory has a bound and the words of today are in it.
class WordCache {
public:
  static constexpr size_t longestWord = 128;

  /// Appends the ids of a word; false if it is not there.
  bool find(std::string_view word, uint64_t hash,
            std::vector<int32_t> &ids) const {
    const Entry &entry = slots[slotOf(word, hash)];
    if (entry.textBytes == 0)
      return false;
    const int32_t *first = values.data() + entry.firstId;
    ids.insert(ids.end(), first, first + entry.idCount);
    return true;
  }

  /// A word that is not there, of at most `longestWord` bytes.
  void add(std::string_view word, uint64_t hash, const int32_t *ids,
           size_t count) {
    if (2 * ++used > slots.size())
      clear();
    Entry &entry = slots[slotOf(word, hash)];
    entry = {hash, static_cast<uint32_t>(texts.size()),
             static_cast<uint32_t>(values.size()),
             static_cast<uint16_t>(word.size()), static_cast<uint16_t>(count)};
    texts += word;
    values.insert(values.end(), ids, ids + count);
  }

private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t firstByte = 0, firstId = 0;
    uint16_t textBytes = 0, idCount = 0; ///< No bytes: the slot is free.
  };

  size_t slotOf(std::string_view word, uint64_t hash) const {
    size_t mask = slots.size() - 1, slot = hash & mask;
    for (; slots[slot].textBytes != 0; slot = (slot + 1) & mask) {
      const Entry &entry = slots[slot];
      if (entry.hash == hash && std::string_view(texts).substr(
                                    entry.firstByte, entry.textBytes) == word)
        break;
    }
    return slot;
  }
  void clear() {
    slots.assign(slots.size(), Entry());
    texts.clear();
    values.clear();
    used = 1;
  }

  std::vector<Entry> slots = std::vector<Entry>(1 << 17);
  size_t used = 0;
  std::string texts;
  std::vector<int32_t> values;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H
