//===- RowSchedule.cpp - a random schedule of texts in rows ---------------===//

#include "lib/Verify/RowSchedule.h"
#include <algorithm>

using namespace tessera;

/// Only some prompts of longer sequences end, which programs (.mlir) may have.
static constexpr int64_t kMostEnds = 32;

RowSchedule::RowSchedule(const RowSizes &sizes, int64_t sequences,
                         const std::vector<int32_t> &tokens)
    : sizes(sizes), tokens(tokens), generator(1),
      slots(sizes.lanes * sizes.slots, Text{-1, 0, 0, false}) {
  addTexts(sequences);
}

void RowSchedule::addTexts(int64_t sequences) {
  const int64_t ends = std::min(sizes.places, kMostEnds);
  auto add = [&](int64_t sequence, int64_t end, bool isOneByOne) {
    auto number = static_cast<int64_t>(waiting.size());
    waiting.push_back({number, sequence, end, isOneByOne});
  };
  for (int64_t k = 0; k < sequences; ++k) {
    for (int64_t end = 1; end <= ends; ++end)
      add(k, end * sizes.places / ends, false);
    add(k, ends, true);
  }
  std::shuffle(waiting.begin(), waiting.end(), generator);
}

/// Slots that are free may stay so for a while.
void RowSchedule::admit() {
  for (Text &slot : slots)
    if (slot.done == slot.end && !waiting.empty() && random(3) > 0) {
      slot = waiting.back();
      waiting.pop_back();
    }
}

void RowSchedule::addRow(int64_t lane, int64_t slot, Text &text, bool isLast) {
  chosen.push_back({text.number, lane, slot, text.done,
                    tokens[text.sequence * sizes.places + text.done], isLast});
  if (text.done == 0)
    begins.push_back({text.number, lane, slot, text.sequence});
  if (isLast || isScored)
    wanted.push_back({chosen.size() - 1, lane, slot, text.sequence, text.done});
  ++text.done;
}

/// Rows of several texts, in any order, each text's in its own.
void RowSchedule::addLane(int64_t lane, int64_t room) {
  constexpr int64_t kNobody = -1;
  std::vector<int64_t> owners, left(sizes.slots, 0);
  for (int64_t slot = 0; slot < sizes.slots; ++slot) {
    const Text &text = at(lane, slot);
    int64_t most = std::min(room - static_cast<int64_t>(owners.size()),
                            text.isOneByOne ? 1 : text.end - text.done);
    left[slot] = text.done < text.end ? random(most + 1) : 0;
    owners.insert(owners.end(), left[slot], slot);
  }
  for (auto k = static_cast<int64_t>(owners.size()); k < room; ++k)
    if (random(4) == 0)
      owners.push_back(kNobody);
  std::shuffle(owners.begin(), owners.end(), generator);
  for (int64_t slot : owners)
    if (slot == kNobody)
      chosen.push_back({kNobody, lane, kNobody, 0, 0, 0});
    else
      addRow(lane, slot, at(lane, slot), --left[slot] == 0);
}

bool RowSchedule::next() {
  chosen.clear();
  wanted.clear();
  begins.clear();
  admit();
  bool isDone = waiting.empty() &&
                std::all_of(slots.begin(), slots.end(), [](const Text &text) {
                  return text.done == text.end;
                });
  isScored = random(3) == 0;
  isMixed = random(2) == 1;
  int64_t most = 0;
  for (int64_t lane = 0; lane < sizes.lanes; ++lane) {
    auto before = static_cast<int64_t>(chosen.size());
    addLane(lane,
            isMixed || isScored ? sizes.slots + sizes.chunk : sizes.slots);
    most = std::max(most, static_cast<int64_t>(chosen.size()) - before);
  }
  isMixed = most > sizes.slots;
  return !isDone;
}
