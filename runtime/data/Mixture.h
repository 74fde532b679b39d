//===- Mixture.h - which source each sequence is read from ------*- C++ -*-===//
// Sources are visited in the order of the quota method (Balinski, Young, "The
// Quota Method of Apportionment", 1975): after any number of sequences, each
// source has been read within one sequence of its share. Shares are integers,
// so that the order repeats and any place in it is found in a table.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_MIXTURE_H
#define TESSERA_RUNTIME_DATA_MIXTURE_H

#include <cstdint>
#include <vector>

namespace tessera {

class Mixture {
public:
  /// The most sequences after which the order repeats.
  static constexpr int64_t longestPeriod = 1 << 16;

  /// Whole shares in the ratio of `weights`, as small as they can be. Where
  /// none that sum to less than `longestPeriod` have it, shares that sum to
  /// `longestPeriod`, rounded by largest remainder; a weight above 0 may then
  /// become 0. `weights` must be finite, at least 0 and sum to more than 0.
  static std::vector<int64_t> sharesOf(const std::vector<double> &weights);

  /// Mixes by `shares`, which must be at least 0 and sum to 1 to
  /// `longestPeriod`.
  explicit Mixture(const std::vector<int64_t> &shares);

  /// Sequence `number` of a source, counted from 0.
  struct Visit {
    int64_t source, number;
  };
  /// Returns the source of sequence `place` of all, counted from 0. Constant
  /// time.
  Visit at(int64_t place) const {
    auto period = static_cast<int64_t>(table.size());
    const Entry &entry = table[place % period];
    return {entry.source, place / period * shares[entry.source] + entry.before};
  }

  /// Returns how many of the first `place` sequences are of a source, in time
  /// of one period.
  int64_t visitsBefore(int64_t place, int64_t source) const;

private:
  struct Entry {
    int32_t source;
    int32_t before; ///< Visits of the source earlier in the period.
  };
  std::vector<int64_t> shares;
  std::vector<Entry> table; ///< One period.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_MIXTURE_H
