//===- EntryTable.h - what is true of each entry of the ABI -----*- C++ -*-===//
// abi_entries.def as a table, and what it says of an entry.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CALLS_ENTRYTABLE_H
#define TESSERA_RUNTIME_CALLS_ENTRYTABLE_H

#include "tessera/abi.h"

#include <array>

namespace tessera {

struct EntryInfo {
  const char *name;
  int kind; ///< TSR_KIND_*
  int64_t buffers, arguments;
};

/// The entries by TSR_ENTRY_*; that of TSR_ENTRY_NONE is empty.
inline constexpr std::array<EntryInfo, TSR_ENTRY_END> entryTable = {{
    {"", TSR_KIND_CONTROL, 0, 0},
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS)                    \
  {#name, TSR_KIND_##KIND, BUFFERS, ARGUMENTS},
#include "tessera/abi_entries.def"
}};

constexpr bool isCollective(int entry) {
  return entryTable[entry].kind == TSR_KIND_COLLECTIVE;
}

constexpr bool isMessage(int entry) {
  return entryTable[entry].kind == TSR_KIND_MESSAGE;
}

/// Returns whether a call has several members.
constexpr bool isCoalesced(int entry) {
  return entry == TSR_ENTRY_ALL_GATHER_COALESCED ||
         entry == TSR_ENTRY_REDUCE_SCATTER_COALESCED;
}

constexpr bool isAttention(int entry) {
  return entry == TSR_ENTRY_ATTENTION || entry == TSR_ENTRY_ATTENTION_BACKWARD;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CALLS_ENTRYTABLE_H
