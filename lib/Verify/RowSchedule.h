//===- RowSchedule.h - a random schedule of texts in rows -------*- C++ -*-===//
// Parts of sequences from their begin, so that each position is once the last
// of a prompt; they join free slots at random, in chunks of random sizes, in
// rows that are mixed with those of others and of nobody.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_ROWSCHEDULE_H
#define TESSERA_LIB_VERIFY_ROWSCHEDULE_H

#include "tessera/tessera.h"
#include <random>
#include <vector>

namespace tessera {

/// Sizes of programs for generation, in a lane each; `places` of a slot.
struct RowSizes {
  int64_t lanes = 1, slots = 1, places = 1, chunk = 1;
};

/// A row after which something is compared, and what it is of.
struct PlacedRow {
  size_t number; ///< The number in the step's rows.
  int64_t lane, slot, sequence, position;
};

/// A text whose first row is in a step.
struct BegunText {
  int64_t text, lane, slot, sequence;
};

class RowSchedule {
public:
  /// Schedules `sequences` whose tokens are [sequences, sizes.places].
  RowSchedule(const RowSizes &sizes, int64_t sequences,
              const std::vector<int32_t> &tokens);

  /// Chooses the rows of the next step; false: all texts are done.
  bool next();
  const std::vector<tsr_row> &rows() const { return chosen; }
  /// Returns whether the step scores labels: then all rows of texts are
  /// compared, else the last ones of each.
  bool scores() const { return isScored; }
  const std::vector<PlacedRow> &compared() const { return wanted; }
  const std::vector<BegunText> &begun() const { return begins; }
  /// Returns the program that runs these rows.
  const char *program() const {
    return isScored ? "score" : isMixed ? "mixed" : "decode";
  }

private:
  struct Text {
    int64_t number, sequence, end;
    bool isOneByOne; ///< A row at a time.
    int64_t done = 0;
  };
  void addTexts(int64_t sequences);
  void admit();
  void addLane(int64_t lane, int64_t room);
  void addRow(int64_t lane, int64_t slot, Text &text, bool isLast);
  int64_t random(int64_t below) {
    return static_cast<int64_t>(generator() % static_cast<uint32_t>(below));
  }
  Text &at(int64_t lane, int64_t slot) {
    return slots[lane * sizes.slots + slot];
  }

  RowSizes sizes;
  const std::vector<int32_t> &tokens;
  std::mt19937 generator;
  std::vector<Text> waiting, slots; ///< A free slot has a text that is done.
  std::vector<tsr_row> chosen;
  std::vector<PlacedRow> wanted;
  std::vector<BegunText> begins;
  bool isMixed = false, isScored = false;
};

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_ROWSCHEDULE_H
