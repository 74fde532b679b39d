//===- StepRecordingTest.cpp - lists of calls, recorded whole or by call --===//
// A list's recording of a step must be the same as what its calls record one by
// one: the same scalars, and the same answer to whether two steps make the same
// calls.
#include "runtime/cuda/step/StepRecording.h"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::cuda;

namespace {

constexpr int64_t scalarCount = 9; // the first is zero

const tsr_abi_device_kernel silent = {"silent", 1, 32,      0,
                                      2,        0, nullptr, nullptr};
const tsr_abi_device_kernel counting = {"counting", 1, 32,      0,
                                        1,          3, nullptr, nullptr};

/// A list whose calls take scalars here and there, as the compiler writes it.
class RandomList {
public:
  explicit RandomList(uint32_t seed) : random(seed) {
    int64_t count = 1 + pick(12);
    for (int64_t i = 0; i < count; ++i)
      addCall();
    list = {count, 0, words.data(), arguments.data(), kernels};
  }
  RandomList(const RandomList &) = delete;

  const tsr_abi_calls &calls() const { return list; }

private:
  int64_t pick(int64_t below) { return static_cast<int64_t>(random() % below); }

  void addCall() {
    switch (pick(5)) {
    case 0:
      return add(TSR_ENTRY_LAUNCH, 0, 2, TSR_LAUNCH_SCALARS);
    case 1:
      return add(TSR_ENTRY_LAUNCH, 1, 1, TSR_LAUNCH_SCALARS + 3);
    case 2:
      return add(TSR_ENTRY_FILL, -1, 1, TSR_FILL_ARGS);
    case 3:
      return add(TSR_ENTRY_ATTENTION, -1, 5, TSR_ATTENTION_ARGS);
    default:
      return add(TSR_ENTRY_ATTENTION_BACKWARD, -1, 9, TSR_ATTENTION_ARGS);
    }
  }

  void add(int32_t entry, int32_t kernel, int32_t buffers, int32_t args) {
    auto first = static_cast<int32_t>(arguments.size());
    for (int32_t i = 0; i < args; ++i)
      arguments.push_back(pick(5));
    if (isAttention(entry)) {
      double dropout = pick(2) ? 0.25 : 0;
      std::memcpy(&arguments[first + TSR_ATTENTION_DROPOUT_BITS], &dropout,
                  sizeof dropout);
      arguments[first + TSR_ATTENTION_BUCKETS] = 0;
    }
    std::vector<int64_t> computed;
    for (int64_t i = 0; i < args; ++i)
      if (pick(4) == 0 && i != TSR_ATTENTION_DROPOUT_BITS &&
          i != TSR_ATTENTION_BUCKETS)
        computed.push_back(i | (1 + pick(scalarCount - 1)) << 32);
    tsr_abi_call call = {entry, kernel, buffers,
                         args,  first,  static_cast<int32_t>(computed.size())};
    int64_t head[3];
    std::memcpy(head, &call, sizeof head);
    words.insert(words.end(), head, head + 3);
    for (int32_t i = 0; i < buffers; ++i)
      words.push_back(wordOfBuffer());
    words.insert(words.end(), computed.begin(), computed.end());
  }

  int64_t wordOfBuffer() {
    int64_t kind = pick(4);
    if (kind == 0)
      return TSR_NO_BUFFER;
    int64_t scalar = kind == 1 ? 1 + pick(scalarCount - 1) : 0;
    return 64 * pick(8) | scalar << TSR_BUFFER_OFFSET_BITS;
  }

  std::mt19937 random;
  std::vector<int64_t> words, arguments;
  void *kernels[2] = {const_cast<tsr_abi_device_kernel *>(&silent),
                      const_cast<tsr_abi_device_kernel *>(&counting)};
  tsr_abi_calls list{};
};

struct Recorded {
  uint64_t calls;
  std::vector<int64_t> scalars;
};

Recorded recorded(StepRecording &recording) {
  return {recording.calls(), recording.scalars().values()};
}

class Lists : public ::testing::TestWithParam<uint32_t> {
protected:
  Lists() { frame.arena = arena; }

  Recorded asList(const int64_t *scalars) {
    known.clear();
    known.record(frame, list.calls(), scalars);
    return recorded(known);
  }
  Recorded callByCall(const int64_t *scalars) {
    StepRecording recording;
    CallReader reader(frame.arena, list.calls(), scalars);
    for (int64_t i = 0; i < list.calls().count; ++i) {
      reader.read();
      recording.record(
          {reader.call().entry, i, reader.buffers(), reader.args()});
    }
    return recorded(recording);
  }

  alignas(64) unsigned char arena[4096];
  tsr_abi_frame frame{};
  RandomList list{GetParam()};
  StepRecording known; ///< the list after the first time
};

TEST_P(Lists, TellWhatTheirCallsTell) {
  int64_t scalars[scalarCount] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  Recorded list = asList(scalars), calls = callByCall(scalars);
  EXPECT_EQ(list.scalars, calls.scalars);
  EXPECT_EQ(asList(scalars).calls, list.calls) << "the second time";
  for (int64_t changed = 1; changed < scalarCount; ++changed) {
    scalars[changed] += 64;
    Recorded otherList = asList(scalars), otherCalls = callByCall(scalars);
    EXPECT_EQ(otherList.scalars, otherCalls.scalars) << "scalar " << changed;
    EXPECT_EQ(otherList.calls == list.calls, otherCalls.calls == calls.calls)
        << "scalar " << changed;
    scalars[changed] -= 64;
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Lists, ::testing::Range(0u, 200u));

/// Buffers and sizes of every member tell calls apart.
TEST(StepRecording, MembersOfCoalescedCallsCount) {
  constexpr int64_t members = 3;
  std::array<char, 2 * members + 1> arena{};
  auto digestOf = [&](int64_t buffer, int64_t argument) {
    std::array<void *, 2 * members> buffers;
    for (size_t k = 0; k < buffers.size(); ++k)
      buffers[k] = &arena[k + (static_cast<int64_t>(k) == buffer ? 1 : 0)];
    std::array<int64_t, TSR_COALESCED_SIZES + members * TSR_MEMBER_ARGS> args{};
    args[TSR_COALESCED_MEMBERS] = members;
    if (argument >= 0)
      args[size_t(TSR_COALESCED_SIZES + argument)] = 1;
    StepRecording recording;
    recording.record(
        {TSR_ENTRY_ALL_GATHER_COALESCED, 0, buffers.data(), args.data()});
    return recording.calls();
  };
  std::set<uint64_t> digests = {digestOf(-1, -1)};
  for (int64_t buffer = 0; buffer < 2 * members; ++buffer)
    digests.insert(digestOf(buffer, -1));
  for (int64_t k = 0; k < members * TSR_MEMBER_ARGS; ++k)
    digests.insert(digestOf(-1, k));
  EXPECT_EQ(digests.size(),
            size_t(1 + 2 * members + members * TSR_MEMBER_ARGS));
}

TEST(StepRecording, ListsOfTheSameScalarsAreOtherCalls) {
  alignas(64) unsigned char arena[4096];
  tsr_abi_frame frame{};
  frame.arena = arena;
  RandomList one(1), two(2);
  int64_t scalars[scalarCount] = {};
  StepRecording recording;
  recording.record(frame, one.calls(), scalars);
  uint64_t first = recording.calls();
  recording.record(frame, two.calls(), scalars);
  uint64_t both = recording.calls();
  recording.clear();
  recording.record(frame, two.calls(), scalars);
  EXPECT_NE(recording.calls(), first);
  recording.record(frame, one.calls(), scalars);
  EXPECT_NE(recording.calls(), both) << "in the other order";
}

} // namespace
