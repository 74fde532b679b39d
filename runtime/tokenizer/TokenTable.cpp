#include "runtime/tokenizer/TokenTable.h"

#include "runtime/support/Status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <sys/auxv.h>

namespace tessera {

uint64_t hashSeed() {
  static const uint64_t seed = [] {
    uint64_t value = 0;
    // Sixteen random bytes that the kernel gives each process.
    if (const unsigned long random = getauxval(AT_RANDOM))
      std::memcpy(&value, reinterpret_cast<const void *>(random), sizeof value);
    return value;
  }();
  return seed;
}

uint64_t hashOf(std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), hashSeed());
}

size_t TokenTable::slotOf(std::string_view text, uint64_t hash) const {
  size_t mask = slots.size() - 1, slot = hash & mask;
  for (; slots[slot] != noEntry; slot = (slot + 1) & mask) {
    const Entry &entry = entries[slots[slot]];
    if (entry.hash == hash && textOf(entry) == text)
      break;
  }
  return slot;
}

void TokenTable::grow() {
  slots.assign(std::max<size_t>(16, slots.size() * 2), noEntry);
  for (uint32_t i = 0; i < entries.size(); ++i)
    slots[slotOf(textOf(entries[i]), entries[i].hash)] = i;
}

void TokenTable::add(std::string_view text, int32_t id) {
  if (2 * (entries.size() + 1) > slots.size())
    grow();
  if (text.size() > longestText)
    fail(TSR_UNSUPPORTED, "the token of id ", id, " has ", text.size(),
         " bytes, tokens have at most ", longestText);
  if (texts.size() + text.size() > mostBytes)
    fail(TSR_UNSUPPORTED, "the tokens of a vocabulary have more than ",
         mostBytes, " bytes");
  if (id >= end())
    byId.resize(id + 1, noEntry);
  uint64_t hash = hashOf(text);
  size_t slot = slotOf(text, hash);
  if (slots[slot] == noEntry) {
    slots[slot] = static_cast<uint32_t>(entries.size());
    entries.push_back({hash, static_cast<uint32_t>(texts.size()),
                       static_cast<uint32_t>(text.size()), id});
    texts += text;
  } else
    entries[slots[slot]].id = id;
  byId[id] = slots[slot];
}

int32_t TokenTable::find(std::string_view text) const {
  if (slots.empty())
    return none;
  uint32_t entry = slots[slotOf(text, hashOf(text))];
  return entry == noEntry ? none : entries[entry].id;
}

} // namespace tessera
