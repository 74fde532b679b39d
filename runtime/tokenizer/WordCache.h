//===- WordCache.h - ids of words that were met -----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H
#define TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Few words make up most of a text. When it is full it is emptied, so that its
/// memory has a bound and the words of today are in it. Words that collide too
/// often, or have many ids, are not kept.
class WordCache {
public:
  static constexpr size_t longestWord = 128;
  static constexpr size_t mostIdsOfWord = 4096;

  /// Appends the ids of a word; false if it is not there.
  bool find(std::string_view word, uint64_t hash,
            std::vector<int32_t> &ids) const {
    size_t slot = slotOf(word, hash);
    if (slot == noSlot || slots[slot].textBytes == 0)
      return false;
    const Entry &entry = slots[slot];
    const int32_t *first = values.data() + entry.firstId;
    ids.insert(ids.end(), first, first + entry.idCount);
    return true;
  }

  /// Adds a word that is not there, of at most `longestWord` bytes.
  void add(std::string_view word, uint64_t hash, const int32_t *ids,
           size_t count) {
    if (count > mostIdsOfWord)
      return;
    if (2 * (used + 1) > slots.size() || values.size() + count > mostIds)
      clear();
    size_t slot = slotOf(word, hash);
    if (slot == noSlot)
      return;
    ++used;
    slots[slot] = {hash, texts.size(), values.size(), word.size(), count};
    texts += word;
    values.insert(values.end(), ids, ids + count);
  }

private:
  struct Entry {
    uint64_t hash = 0;
    size_t firstByte = 0, firstId = 0;
    size_t textBytes = 0, idCount = 0; ///< No bytes: the slot is free.
  };
  static constexpr size_t mostIds = size_t(1) << 22, mostProbes = 64;
  static constexpr size_t noSlot = SIZE_MAX;

  /// The slot of a word, or the free one where it belongs; `noSlot` if too many
  /// others are in the way.
  size_t slotOf(std::string_view word, uint64_t hash) const {
    size_t mask = slots.size() - 1, slot = hash & mask;
    for (size_t probe = 0; probe < mostProbes; ++probe) {
      const Entry &entry = slots[slot];
      if (entry.textBytes == 0 ||
          (entry.hash == hash && std::string_view(texts).substr(
                                     entry.firstByte, entry.textBytes) == word))
        return slot;
      slot = (slot + 1) & mask;
    }
    return noSlot;
  }
  void clear() {
    slots.assign(slots.size(), Entry());
    texts.clear();
    values.clear();
    used = 0;
  }

  std::vector<Entry> slots = std::vector<Entry>(1 << 17);
  size_t used = 0;
  std::string texts;
  std::vector<int32_t> values;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_WORDCACHE_H
