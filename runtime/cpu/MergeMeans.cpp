//===- MergeMeans.cpp - The entry `merge_means` ---------------------------===//

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CacheProblem.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <vector>

using namespace tessera;

namespace {

/// Elements whose merge is worth a thread of its own.
constexpr int64_t kLeastWork = 4096;

float store(float x, float) { return x; }
double store(double x, double) { return x; }
Bf16 store(float x, Bf16) { return floatToBf16(x); }

template <typename T, typename Out> class Merge {
public:
  explicit Merge(const MeansProblem &p)
      : p(p), terms(p.ranks * p.columns), shares(p.ranks) {}

  void run(int64_t row) {
    const T top = largestOf(row);
    weigh(row, top);
    for (int64_t step = 1; step < p.ranks; step *= 2)
      for (int64_t k = 0; k + step < p.ranks; k += 2 * step)
        add(k, k + step);
    Out *to = static_cast<Out *>(p.means) + row * (p.columns + p.weighted);
    const T total = shares[0] == 0 ? T(1) : shares[0]; // the terms are 0, too
    for (int64_t d = 0; d < p.columns; ++d)
      to[d] = store(terms[d] / total, Out());
    if (p.weighted)
      to[p.columns] = store(std::log(shares[0]) + top, Out());
  }

private:
  const T *part(int64_t rank, int64_t row) const {
    return static_cast<const T *>(p.parts) +
           (rank * p.rows + row) * (p.columns + 1);
  }

  /// Returns the logarithm of the largest weight; a NaN if there is one.
  T largestOf(int64_t row) const {
    T top = -std::numeric_limits<T>::infinity();
    for (int64_t k = 0; k < p.ranks; ++k) {
      const T weight = part(k, row)[p.columns];
      if (!(weight <= top) && !std::isnan(top))
        top = weight;
    }
    return top;
  }

  void weigh(int64_t row, T top) {
    const T none = -std::numeric_limits<T>::infinity();
    for (int64_t k = 0; k < p.ranks; ++k) {
      const T *own = part(k, row);
      shares[k] =
          own[p.columns] == none ? T(0) : std::exp(own[p.columns] - top);
      for (int64_t d = 0; d < p.columns; ++d)
        terms[k * p.columns + d] = shares[k] * own[d];
    }
  }

  void add(int64_t to, int64_t from) {
    shares[to] += shares[from];
    for (int64_t d = 0; d < p.columns; ++d)
      terms[to * p.columns + d] += terms[from * p.columns + d];
  }

  const MeansProblem &p;
  std::vector<T> terms, shares; ///< The terms and shares of a row, by rank.
};

template <typename T, typename Out>
void merge(const MeansProblem &p, int threads) {
  const int64_t work = p.ranks * p.rows * p.columns / kLeastWork;
  const int64_t parts =
      std::clamp<int64_t>(work, 1, std::max<int64_t>(threads, 1));
  inParallel(static_cast<int>(parts), [&](int64_t piece) {
    Merge<T, Out> rows(p);
    for (int64_t row = p.rows * piece / parts;
         row < p.rows * (piece + 1) / parts; ++row)
      rows.run(row);
  });
}

} // namespace

int32_t tessera::cpuMergeMeans(int threads, void *const *buffers,
                               const int64_t *args, std::string *error) try {
  MeansProblem p;
  if (int32_t status = decodeMergeMeans(args, buffers, &p, error))
    return status;
  if (p.dtypeIn == TSR_DTYPE_F64)
    merge<double, double>(p, threads);
  else if (p.dtypeOut == TSR_DTYPE_F32)
    merge<float, float>(p, threads);
  else
    merge<float, Bf16>(p, threads);
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("merge_means: ") + failure.what();
  return TSR_INTERNAL;
}
