//===- ChunkedScatterAdd.cpp - The entry `chunked_scatter_add` ------------===//
// The gradient of an embedding lookup, rows added as a tree of chunks. A chunk
// without rows for a row of the table is left out: its sum would be +0, which
// changes no bit of what it is added to, as no sum here is -0.

#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/GemmProblem.h"
#include "runtime/cpu/ScatterProblem.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <exception>
#include <vector>

using namespace tessera;

namespace {

/// Rows of the source by the row of the table that they are added to.
struct Additions {
  /// Pairs of a row of the table and a row of the source.
  std::vector<std::pair<int64_t, int64_t>> rows;

  explicit Additions(const ScatterProblem &s) {
    for (int64_t r = 0; r < s.rows; ++r)
      if (int64_t row = int64_t(s.ids[r]) - s.start; row >= 0 && row < s.valid)
        rows.emplace_back(row, r);
    std::sort(rows.begin(), rows.end());
  }
};

template <typename T> class Tree {
public:
  Tree(const ScatterProblem &s, int64_t chunks, int64_t begin, int64_t end)
      : s(s), chunk(std::max<int64_t>(1, s.rows / chunks)), begin(begin),
        width(end - begin) {
    while (int64_t(1) << (levels - 1) < chunks)
      ++levels;
    sums.resize(levels * width);
    spans.resize(levels);
  }

  /// Adds the source rows of one row of the table, which are in order.
  template <typename Row> void add(Row first, Row last) {
    int64_t depth = 0;
    for (Row at = first; at != last;) {
      int64_t number = at->second / chunk;
      while (depth > 1 && !joins(depth - 1, number))
        addTop(depth--);
      T *sum = &sums[depth * width];
      std::fill(sum, sum + width, T(0));
      for (; at != last && at->second / chunk == number; ++at)
        addRow(at->second, sum);
      spans[depth++] = number;
    }
    while (depth > 1)
      addTop(depth--);
    T *to = static_cast<T *>(s.table) + first->first * s.columns + begin;
    for (int64_t c = 0; c < width; ++c)
      to[c] += sums[c];
  }

private:
  /// Is a chunk in the smallest subtree of the two sums on top, or does it
  /// come later? Then those two are added first.
  bool joins(int64_t top, int64_t number) const {
    return apart(spans[top], number) < apart(spans[top - 1], spans[top]);
  }
  /// Returns the height of the smallest subtree that has both.
  static int64_t apart(int64_t a, int64_t b) {
    int64_t height = 0;
    for (; a != b; a /= 2, b /= 2)
      ++height;
    return height;
  }
  void addTop(int64_t depth) {
    T *right = &sums[(depth - 1) * width], *left = right - width;
    for (int64_t c = 0; c < width; ++c)
      left[c] += right[c];
    spans[depth - 2] = spans[depth - 1];
  }
  void addRow(int64_t row, T *sum) const {
    const T *from = static_cast<const T *>(s.source) + row * s.columns + begin;
    for (int64_t c = 0; c < width; ++c)
      sum[c] += from[c];
  }

  const ScatterProblem &s;
  int64_t chunk, begin, width, levels = 1;
  std::vector<T> sums;
  std::vector<int64_t> spans; ///< The last chunk in each sum.
};

template <typename T>
void addColumns(const ScatterProblem &s, const Additions &additions,
                int64_t chunks, int64_t begin, int64_t end) {
  Tree<T> tree(s, chunks, begin, end);
  const auto &rows = additions.rows;
  for (auto first = rows.begin(); first != rows.end();) {
    auto last = std::find_if(first, rows.end(), [&](const auto &other) {
      return other.first != first->first;
    });
    tree.add(first, last);
    first = last;
  }
}
} // namespace

int32_t tessera::cpuChunkedScatterAdd(int threads, void *const *buffers,
                                      const int64_t *args,
                                      std::string *error) try {
  ScatterProblem s;
  if (int32_t status = decodeScatter(args, buffers, &s, error))
    return status;
  const int64_t chunks = args[TSR_SCATTER_CHUNKS];
  *error = checkChunks("chunked_scatter_add", s.rows, chunks);
  if (s.dtypeSource != s.dtypeTable)
    *error = "chunked_scatter_add: dtypes " + std::to_string(s.dtypeSource) +
             " -> " + std::to_string(s.dtypeTable) +
             " are not supported; both are f32 or both f64";
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  const Additions additions(s);
  overColumns(threads, s.columns, [&](int64_t begin, int64_t end) {
    if (s.dtypeSource == TSR_DTYPE_F64)
      addColumns<double>(s, additions, chunks, begin, end);
    else
      addColumns<float>(s, additions, chunks, begin, end);
  });
  return 0;
} catch (const std::exception &failure) {
  *error = std::string("chunked_scatter_add: ") + failure.what();
  return TSR_INTERNAL;
}
