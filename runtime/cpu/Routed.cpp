//===- Routed.cpp - The entry `routed`: mixtures of experts ---------------===//
// Threads share tokens: each row of a result is made by one thread, in order of
// experts, so the bits do not depend on the number of threads.

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/RoutedProblem.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

using namespace tessera;

namespace {
/// Finds the row of an expert and a token.
class RowPlaces {
public:
  explicit RowPlaces(const RoutedProblem &p)
      : p(p), compact(p.rows > 0 && p.kind != TSR_ROUTED_TOP_K) {
    if (!compact)
      return;
    places.resize(static_cast<size_t>(p.tokens * p.experts));
    const int64_t tokens = p.tokens / p.parts();
    for (int64_t part = 0; part < p.parts(); ++part) {
      std::vector<int64_t> next = firstRowsOf(p, part, p.parts());
      routed += next.back();
      for (int64_t t = part * tokens; t < (part + 1) * tokens; ++t)
        for (int64_t x = 0; x < p.experts; ++x)
          if (p.routes(t, x))
            places[at(x, t)] = next[static_cast<size_t>(x)]++;
    }
  }

  /// Returns the row of a token that is routed to the expert. If rows are not
  /// compact, every token has one.
  int64_t of(int64_t x, int64_t t) const {
    return compact ? places[at(x, t)] : x * p.tokens + t;
  }
  bool areCompact() const { return compact; }

  int64_t routed = 0; ///< compact rows

private:
  size_t at(int64_t x, int64_t t) const {
    return static_cast<size_t>(t * p.experts + x);
  }

  const RoutedProblem &p;
  bool compact;
  std::vector<int64_t> places;
};

/// NaN is larger than numbers, so that never more than k are chosen.
template <typename T> bool isLarger(T a, T b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

/// `Gate` is also the type in which values are added.
template <typename In, typename Out, typename Gate> class Work {
public:
  Work(const RoutedProblem &p, const RowPlaces &places)
      : p(p), places(places) {}

  void topK(int64_t t) const;
  void dispatch(int64_t t) const;
  void collect(int64_t t) const;
  void gradGates(int64_t t) const;
  void expand(int64_t t) const;
  void rounds(int64_t t) const;

  void run(int64_t t) const {
    switch (p.kind) {
    case TSR_ROUTED_TOP_K:
      return topK(t);
    case TSR_ROUTED_DISPATCH:
      return dispatch(t);
    case TSR_ROUTED_COLLECT:
      return collect(t);
    case TSR_ROUTED_EXPAND:
      return expand(t);
    case TSR_ROUTED_ROUNDS:
      return rounds(t);
    default:
      return gradGates(t);
    }
  }

private:
  Gate gate(int64_t t, int64_t x) const {
    return static_cast<const Gate *>(p.gates)[t * p.experts + x];
  }
  /// Returns the row of expert x and token t.
  template <typename T> T *row(T *rows, int64_t x, int64_t t) const {
    return rows + places.of(x, t) * p.columns;
  }

  const RoutedProblem &p;
  const RowPlaces &places;
};

template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::topK(int64_t t) const {
  const In *logits = static_cast<const In *>(p.first) + t * p.experts;
  Out *gates = static_cast<Out *>(p.result) + t * p.experts;
  // x is chosen if fewer than k come before it: larger ones, and equal ones of
  // a lower index.
  auto isChosen = [&](int64_t x) {
    int64_t before = 0;
    for (int64_t y = 0; y < p.experts; ++y)
      before += isLarger(wide(logits[y]), wide(logits[x])) ||
                (y < x && !isLarger(wide(logits[x]), wide(logits[y])));
    return before < p.k;
  };
  Gate top = wide(logits[0]), sum = 0;
  for (int64_t x = 1; x < p.experts; ++x)
    top = std::max<Gate>(top, wide(logits[x]));
  thread_local std::vector<std::pair<int64_t, Gate>> chosen;
  chosen.clear();
  for (int64_t x = 0; x < p.experts; ++x) {
    store(Gate(0), gates[x]);
    if (isChosen(x))
      chosen.push_back({x, std::exp(wide(logits[x]) - top)});
  }
  for (const auto &[x, exponential] : chosen)
    sum += exponential;
  for (const auto &[x, exponential] : chosen)
    store(exponential / sum, gates[x]);
}

template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::dispatch(int64_t t) const {
  const In *from = static_cast<const In *>(p.first) + t * p.columns;
  for (int64_t x = 0; x < p.experts; ++x) {
    const Gate g = gate(t, x);
    if (g == 0 && places.areCompact())
      continue;
    Out *to = row(static_cast<Out *>(p.result), x, t);
    if (g == 0) {
      std::fill_n(to, p.columns, Out{});
      continue;
    }
    const Gate factor = p.weighted ? g : Gate(1);
    for (int64_t c = 0; c < p.columns; ++c)
      store(factor * wide(from[c]), to[c]);
  }
}

/// Adds blocks of the token's rows, in order of experts: gates are looked up
/// once for a block, and columns are independent.
template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::collect(int64_t t) const {
  constexpr int64_t kBlock = 256;
  Gate sums[kBlock];
  Out *to = static_cast<Out *>(p.result) + t * p.columns;
  for (int64_t first = 0; first < p.columns; first += kBlock) {
    const int64_t count = std::min(kBlock, p.columns - first);
    std::fill_n(sums, count, Gate(0));
    for (int64_t x = 0; x < p.experts; ++x) {
      const Gate g = gate(t, x);
      if (g == 0)
        continue;
      const Gate factor = p.weighted ? g : Gate(1);
      const In *from = row(static_cast<const In *>(p.first), x, t) + first;
      for (int64_t c = 0; c < count; ++c)
        sums[c] += factor * wide(from[c]);
    }
    for (int64_t c = 0; c < count; ++c)
      store(sums[c], to[first + c]);
  }
}

template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::gradGates(int64_t t) const {
  const In *grad = static_cast<const In *>(p.first) + t * p.columns;
  Gate *to = static_cast<Gate *>(p.result) + t * p.experts;
  for (int64_t x = 0; x < p.experts; ++x) {
    Gate sum = 0;
    if (gate(t, x) != 0) {
      const In *rows = row(static_cast<const In *>(p.second), x, t);
      for (int64_t c = 0; c < p.columns; ++c)
        sum += wide(grad[c]) * wide(rows[c]);
    }
    to[x] = sum;
  }
}

template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::expand(int64_t t) const {
  for (int64_t x = 0; x < p.experts; ++x) {
    Out *to = static_cast<Out *>(p.result) + (x * p.tokens + t) * p.columns;
    if (!p.continues())
      std::fill_n(to, p.columns, Out{});
    if (!p.routes(t, x))
      continue;
    const In *from = row(static_cast<const In *>(p.first), x, t);
    for (int64_t c = 0; c < p.columns; ++c)
      store(wide(from[c]), to[c]);
  }
}

template <typename In, typename Out, typename Gate>
void Work<In, Out, Gate>::rounds(int64_t t) const {
  Gate *to = static_cast<Gate *>(p.result) + t * p.experts;
  for (int64_t x = 0; x < p.experts; ++x)
    to[x] = p.routes(t, x) ? Gate(1 + places.of(x, t) / p.rows) : Gate(0);
}

template <typename In, typename Out, typename Gate>
void runWork(const RoutedProblem &p, int threads) {
  const RowPlaces places(p);
  const Work<In, Out, Gate> work(p, places);
  if (p.kind == TSR_ROUTED_DISPATCH && places.areCompact())
    clearRest(p, places.routed);
  const int parts = static_cast<int>(
      std::max<int64_t>(1, std::min<int64_t>(threads, p.tokens)));
  inParallel(parts, [&](int64_t part) {
    for (int64_t t = p.tokens * part / parts; t < p.tokens * (part + 1) / parts;
         ++t)
      work.run(t);
  });
}

int32_t moveMessages(const RoutedProblem &p, std::string *error) {
  std::vector<MessageRun> runs;
  if (int32_t status = findRuns(p, &runs, error))
    return status;
  const int64_t row = p.resultRowBytes();
  const char *from = static_cast<const char *>(p.first);
  char *to = static_cast<char *>(p.result);
  const bool packs = p.kind == TSR_ROUTED_PACK;
  for (const MessageRun &run : runs)
    if (run.count > 0)
      std::memcpy(to + (packs ? run.at : run.row) * row,
                  from + (packs ? run.row : run.at) * row, run.count * row);
  if (!packs && p.sent == 0)
    clearRest(p, firstRowsOf(p).back());
  return 0;
}

template <typename In> void runWork(const RoutedProblem &p, int threads) {
  if (p.dtypeOut == TSR_DTYPE_BF16)
    runWork<In, Bf16, float>(p, threads);
  else
    runWork<In, float, float>(p, threads);
}
} // namespace

int32_t tessera::cpuRouted(int threads, void *const *buffers,
                           const int64_t *args, std::string *error) try {
  RoutedProblem p;
  if (int32_t status = decodeRouted(args, buffers, &p, error))
    return status;
  if (int32_t status = checkRoom(p, error))
    return status;
  if (p.movesMessages())
    return moveMessages(p, error);
  if (p.kind == TSR_ROUTED_PRODUCT || p.kind == TSR_ROUTED_PRODUCT_GRAD_WEIGHT)
    return routedProduct(threads, p, error);
  if (p.dtypeIn == TSR_DTYPE_F64)
    runWork<double, double, double>(p, threads);
  else if (p.dtypeIn == TSR_DTYPE_BF16)
    runWork<Bf16>(p, threads);
  else
    runWork<float>(p, threads);
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("routed: ") + failure.what();
  return TSR_INTERNAL;
}
