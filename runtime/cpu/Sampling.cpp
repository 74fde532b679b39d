//===- Sampling.cpp - The entries `penalize`, `top` and `merge_top` -------===//
// Candidates have one order, of values and then of indices. So the best of all
// are the best of the best of any parts, whoever has which.
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/SamplingProblem.h"
#include "runtime/support/Gumbel.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <vector>

using namespace tessera;

namespace {

/// Logits whose scan is worth a thread of its own.
constexpr int64_t kLeastColumns = 8192;

template <typename T> struct Candidate {
  T value;
  int64_t index;
  T logit;
};

/// Returns whether the first of two stands first in a list. Values are no NaN.
template <typename T>
bool isBefore(const Candidate<T> &a, const Candidate<T> &b) {
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

/// The best so many of those that were offered.
template <typename T> class Best {
public:
  explicit Best(int64_t count) : count(static_cast<size_t>(count)) {}

  /// Returns the value that a candidate must exceed if its index is larger than
  /// all before.
  T threshold() const {
    return heap.size() < count ? -std::numeric_limits<T>::infinity()
                               : heap.front().value;
  }
  void offer(const Candidate<T> &candidate) {
    if (heap.size() == count) {
      if (!isBefore(candidate, heap.front()))
        return;
      std::pop_heap(heap.begin(), heap.end(), isBefore<T>);
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end(), isBefore<T>);
  }
  /// Returns the candidates in order.
  const std::vector<Candidate<T>> &sorted() {
    std::sort_heap(heap.begin(), heap.end(), isBefore<T>);
    return heap;
  }

private:
  size_t count;
  std::vector<Candidate<T>> heap; ///< The last one of the order in front.
};

/// Writes `numbers` of each candidate; what is left of the list has none.
template <typename T>
void write(const std::vector<Candidate<T>> &best, int64_t count,
           int64_t numbers, int64_t total, T *out) {
  constexpr T none = -std::numeric_limits<T>::infinity();
  for (int64_t k = 0; k < count; ++k, out += numbers) {
    const bool isOne = k < static_cast<int64_t>(best.size());
    out[0] = isOne ? best[k].value : none;
    out[1] = static_cast<T>(isOne ? best[k].index : total);
    if (numbers > 2)
      out[2] = isOne ? best[k].logit : none;
  }
}

/// Values are rounded before they are compared, as those of other ranks are.
template <typename T> class Scan {
public:
  Scan(const TopProblem &p, int64_t row)
      : p(p), logits(static_cast<const T *>(p.logits) + row * p.columns) {
    if (!p.isDrawn())
      return;
    const int32_t *draw = p.draws + 3 * row;
    sharpness = static_cast<const T *>(p.sharpness)[row];
    seed = drawnSeed(draw);
    position = draw[2];
  }

  void run(int64_t first, int64_t last, Best<T> &best) const {
    for (int64_t i = first; i < last; ++i)
      if (p.isDrawn())
        draw(i, best);
      else if (logits[i] > best.threshold())
        best.offer({logits[i], p.start + i, logits[i]});
  }

private:
  void draw(int64_t i, Best<T> &best) const {
    const double value = double(logits[i]) * sharpness;
    uint32_t word = 0;
    double noise = 0;
    if (position >= 0) {
      word = gumbelWord(seed, position, p.start + i);
      noise = gumbelBound(word);
    }
    if (!(static_cast<T>(value + noise) > best.threshold()))
      return;
    if (position >= 0)
      noise = gumbelNoise(word);
    const T score = static_cast<T>(value + noise);
    if (score > best.threshold())
      best.offer({score, p.start + i, logits[i]});
  }

  const TopProblem &p;
  const T *logits;
  double sharpness = 1;
  int64_t seed = 0, position = -1;
};

template <typename T> void top(const TopProblem &p, int threads) {
  const int64_t pieces =
      std::clamp<int64_t>(p.valid / kLeastColumns, 1, std::max(threads, 1));
  const int64_t units = p.rows * pieces;
  std::vector<Best<T>> found(units, Best<T>(p.count));
  const int64_t parts =
      std::clamp<int64_t>(threads, 1, std::max(units, int64_t(1)));
  inParallel(static_cast<int>(parts), [&](int64_t part) {
    for (int64_t unit = units * part / parts; unit < units * (part + 1) / parts;
         ++unit) {
      const int64_t piece = unit % pieces;
      Scan<T>(p, unit / pieces)
          .run(p.valid * piece / pieces, p.valid * (piece + 1) / pieces,
               found[unit]);
    }
  });
  const int64_t length = p.count * p.numbers();
  for (int64_t row = 0; row < p.rows; ++row) {
    Best<T> &best = found[row * pieces];
    for (int64_t piece = 1; piece < pieces; ++piece)
      for (const Candidate<T> &each : found[row * pieces + piece].sorted())
        best.offer(each);
    write(best.sorted(), p.count, p.numbers(), p.total,
          static_cast<T *>(p.lists) + row * length);
  }
}

template <typename T> void mergeTop(const MergeTopProblem &p) {
  const int64_t length = p.count * p.numbers;
  for (int64_t row = 0; row < p.rows; ++row) {
    Best<T> best(p.count);
    int64_t total = 0;
    for (int64_t rank = 0; rank < p.ranks; ++rank) {
      const T *part =
          static_cast<const T *>(p.parts) + (rank * p.rows + row) * length;
      for (int64_t k = 0; k < p.count; ++k, part += p.numbers) {
        const auto index = static_cast<int64_t>(part[1]);
        if (part[0] > -std::numeric_limits<T>::infinity())
          best.offer({part[0], index, p.numbers > 2 ? part[2] : part[0]});
        else
          total = index; // the end of a list
      }
    }
    write(best.sorted(), p.count, p.numbers, total,
          static_cast<T *>(p.lists) + row * length);
  }
}

/// Penalizes the logits as they were, so that a token that is named twice
/// counts once: these are put aside.
template <typename T> void penalize(const PenalizeProblem &p) {
  std::vector<std::pair<int64_t, T>> changed;
  for (int64_t row = 0; row < p.rows; ++row) {
    const T penalty = static_cast<const T *>(p.penalties)[row];
    if (penalty == 1)
      continue;
    T *logits = static_cast<T *>(p.logits) + row * p.columns;
    changed.clear();
    for (int64_t k = 0; k < p.tokens; ++k) {
      const int64_t token = p.seen[row * p.tokens + k], at = token - p.start;
      if (token >= 0 && at >= 0 && at < p.valid)
        changed.push_back(
            {at, logits[at] > 0 ? logits[at] / penalty : logits[at] * penalty});
    }
    for (auto [at, value] : changed)
      logits[at] = value;
  }
}

/// Runs `decode`, then what it says by its type.
template <typename Problem, typename Run>
int32_t runDecoded(const char *entry,
                   int32_t (*decode)(const int64_t *, void *const *, Problem *,
                                     std::string *),
                   void *const *buffers, const int64_t *args,
                   std::string *error, Run run) try {
  Problem p;
  if (int32_t status = decode(args, buffers, &p, error))
    return status;
  if (p.dtype == TSR_DTYPE_F64)
    run(p, double());
  else
    run(p, float());
  return 0;
} catch (const std::exception &failure) {
  *error = std::string(entry) + ": " + failure.what();
  return TSR_INTERNAL;
}

} // namespace

int32_t tessera::cpuPenalize(int, void *const *buffers, const int64_t *args,
                             std::string *error) {
  return runDecoded(
      "penalize", decodePenalize, buffers, args, error,
      [](const PenalizeProblem &p, auto type) { penalize<decltype(type)>(p); });
}

int32_t tessera::cpuTop(int threads, void *const *buffers, const int64_t *args,
                        std::string *error) {
  return runDecoded(
      "top", decodeTop, buffers, args, error,
      [=](const TopProblem &p, auto type) { top<decltype(type)>(p, threads); });
}

int32_t tessera::cpuMergeTop(int, void *const *buffers, const int64_t *args,
                             std::string *error) {
  return runDecoded(
      "merge_top", decodeMergeTop, buffers, args, error,
      [](const MergeTopProblem &p, auto type) { mergeTop<decltype(type)>(p); });
}
