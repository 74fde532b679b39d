//===- EntryTableTest.cpp - what the table says of the ABI's entries ------===//
// The CUDA device asks these questions of every call.
#include "runtime/calls/CpuDevice.h"
#include "runtime/cuda/step/Call.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace tessera;

namespace {

std::set<int> entriesFor(bool (*isTrue)(int)) {
  std::set<int> entries;
  for (int entry = TSR_ENTRY_LAUNCH; entry < TSR_ENTRY_END; ++entry)
    if (isTrue(entry))
      entries.insert(entry);
  return entries;
}

TEST(EntryTable, CollectivesAreCallsOfAGroup) {
  auto found = entriesFor([](int e) { return cuda::isCollective(e); });
  EXPECT_EQ(found, (std::set<int>{
                       TSR_ENTRY_ALL_REDUCE, TSR_ENTRY_ALL_GATHER,
                       TSR_ENTRY_REDUCE_SCATTER, TSR_ENTRY_ALL_TO_ALL,
                       TSR_ENTRY_BROADCAST, TSR_ENTRY_SHIFT, TSR_ENTRY_ZIGZAG,
                       TSR_ENTRY_EXCHANGE_ROWS, TSR_ENTRY_ALL_GATHER_COALESCED,
                       TSR_ENTRY_REDUCE_SCATTER_COALESCED}));
}

TEST(EntryTable, CoalescedCallsHaveMembers) {
  auto found = entriesFor([](int e) { return cuda::isCoalesced(e); });
  EXPECT_EQ(found, (std::set<int>{TSR_ENTRY_ALL_GATHER_COALESCED,
                                  TSR_ENTRY_REDUCE_SCATTER_COALESCED}));
}

TEST(EntryTable, MessagesAreCallsOfTwoRanks) {
  auto found = entriesFor([](int e) { return cuda::isMessage(e); });
  EXPECT_EQ(found, (std::set<int>{TSR_ENTRY_SEND, TSR_ENTRY_RECEIVE}));
}

TEST(EntryTable, AttentionIsForwardAndBackward) {
  auto found = entriesFor([](int e) { return cuda::isAttention(e); });
  EXPECT_EQ(found,
            (std::set<int>{TSR_ENTRY_ATTENTION, TSR_ENTRY_ATTENTION_BACKWARD}));
}

/// An index is the place of the field of the same name.
TEST(EntryTable, IndicesArePlacesInTheApi) {
  EXPECT_EQ(offsetof(tsr_abi_api, launch),
            TSR_ENTRY_LAUNCH * sizeof(tsr_abi_entry));
  EXPECT_EQ(offsetof(tsr_abi_api, routed),
            TSR_ENTRY_ROUTED * sizeof(tsr_abi_entry));
  EXPECT_EQ(offsetof(tsr_abi_api, chunked_scatter_add),
            TSR_ENTRY_CHUNKED_SCATTER_ADD * sizeof(tsr_abi_entry));
  EXPECT_EQ(offsetof(tsr_abi_api, reduce_scatter_coalesced),
            TSR_ENTRY_REDUCE_SCATTER_COALESCED * sizeof(tsr_abi_entry));
  EXPECT_EQ(sizeof(tsr_abi_api), TSR_ENTRY_END * sizeof(tsr_abi_entry));
  EXPECT_STREQ(entryTable[TSR_ENTRY_ROUTED].name, "routed");
}

/// These are in programs that are compiled already.
TEST(EntryTable, IndicesStay) {
  EXPECT_EQ(TSR_ENTRY_LAUNCH, 1);
  EXPECT_EQ(TSR_ENTRY_ALL_REDUCE, 8);
  EXPECT_EQ(TSR_ENTRY_WAIT, 15);
  EXPECT_EQ(TSR_ENTRY_CHUNKED_SCATTER_ADD, 20);
  EXPECT_EQ(TSR_ENTRY_EXCHANGE_ROWS, 21);
  EXPECT_EQ(TSR_ENTRY_REDUCE_SCATTER_COALESCED, 23);
}

TEST(EntryTable, TheCpuHasEveryEntry) {
  const tsr_abi_api &api = cpuApi();
  EXPECT_EQ(api.bytes, static_cast<int64_t>(sizeof api));
  std::set<tsr_abi_entry> functions;
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS)                    \
  EXPECT_NE(api.name, nullptr) << #name;                                       \
  functions.insert(api.name);
#include "tessera/abi_entries.def"
  EXPECT_EQ(functions.size(), size_t(TSR_ENTRY_END - 1)) << "one serves two";
}

} // namespace
