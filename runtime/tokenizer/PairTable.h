//===- PairTable.h - values of pairs of numbers -----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_PAIRTABLE_H
#define TESSERA_RUNTIME_TOKENIZER_PAIRTABLE_H

#include "runtime/tokenizer/TokenTable.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// Open addressing: one cache line per look-up, mostly.
template <class Value> class PairTable {
public:
  /// Room for `count` pairs, which are then set.
  explicit PairTable(size_t count = 0) {
    size_t size = 4;
    shift = 62;
    while (size < 2 * count) {
      size *= 2;
      --shift;
    }
    slots.resize(size);
  }

  /// A pair that is there gets the new value. No more than there is room for.
  void set(uint32_t left, uint32_t right, Value value) {
    slots[slotOf(keyOf(left, right))] = {keyOf(left, right), value};
  }
  /// Finds the value of a pair; null if the pair is not there.
  const Value *find(uint32_t left, uint32_t right) const {
    const Slot &slot = slots[slotOf(keyOf(left, right))];
    return slot.key == empty ? nullptr : &slot.value;
  }

private:
  static constexpr uint64_t empty = ~uint64_t(0);
  struct Slot {
    uint64_t key = empty;
    Value value = {};
  };

  static uint64_t keyOf(uint32_t left, uint32_t right) {
    return uint64_t(left) << 32 | right;
  }
  size_t slotOf(uint64_t key) const {
    size_t mask = slots.size() - 1;
    // Dietzfelbinger et al. 1997: an odd factor that who chose the keys did not
    // know spreads them; the high bits are the mixed ones.
    size_t slot = key * factor >> shift;
    while (slots[slot].key != key && slots[slot].key != empty)
      slot = (slot + 1) & mask;
    return slot;
  }

  uint64_t factor = hashSeed() | 1;
  int shift;
  std::vector<Slot> slots;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_PAIRTABLE_H
