//===- GemmRegions.cpp - Cuts a product into regions of C -----------------===//

#include "runtime/cpu/GemmRegions.h"

#include <algorithm>

using namespace tessera;

/// Region borders fall on multiples of this, so that tiles stay whole.
static constexpr int64_t kRowStep = 12, kColumnStep = 64;

static int64_t border(int64_t size, int64_t step, int64_t part, int64_t parts) {
  const int64_t steps = (size + step - 1) / step;
  return std::min(size, steps * part / parts * step);
}

/// Returns the rows and columns that a region packs; regions below a tile are a
/// last choice.
static int64_t packingCost(const GemmProblem &p, int64_t down, int64_t across) {
  const int64_t rows = (p.m + down - 1) / down;
  const int64_t columns = (p.n + across - 1) / across;
  const int64_t idle = rows < kRowStep || columns < kColumnStep;
  return (idle << 60) + rows + columns;
}

GemmRegions::GemmRegions(const GemmProblem &problem, int regions)
    : p(problem), down(1), across(1) {
  constexpr double tiny = 3e4;
  if (double(p.m) * double(p.n) * double(p.k) * double(p.batch) < tiny)
    return;
  across = std::max(regions, 1);
  for (int64_t rows = 2; rows <= regions; ++rows)
    if (regions % rows == 0 &&
        packingCost(p, rows, regions / rows) < packingCost(p, down, across)) {
      down = rows;
      across = regions / rows;
    }
}

GemmRegion GemmRegions::at(int index) const {
  const int64_t i = index / across, j = index % across;
  return {border(p.m, kRowStep, i, down), border(p.m, kRowStep, i + 1, down),
          border(p.n, kColumnStep, j, across),
          border(p.n, kColumnStep, j + 1, across)};
}

/// Returns `base` moved by a number of elements.
static const void *moved(const void *base, int64_t dtype, int64_t elements) {
  static constexpr int64_t bytes[] = {4, 2, 8, 4, 1}; // indexed by TSR_DTYPE_*
  return static_cast<const char *>(base) + elements * bytes[dtype];
}

GemmProblem tessera::cutOut(const GemmProblem &p, const GemmRegion &r) {
  GemmProblem part = p;
  part.m = r.rowEnd - r.rowBegin;
  part.n = r.columnEnd - r.columnBegin;
  part.a = moved(p.a, p.dtypeAB, r.rowBegin * (p.transA ? 1 : p.lda));
  part.b = moved(p.b, p.dtypeB(), r.columnBegin * (p.transB ? p.ldb : 1));
  part.c = const_cast<void *>(
      moved(p.c, p.dtypeC, r.rowBegin * p.ldc + r.columnBegin));
  if (p.bias)
    part.bias = moved(p.bias, p.dtypeC, r.columnBegin);
  return part;
}

GemmProblem tessera::matrixOf(const GemmProblem &p, int64_t index) {
  GemmProblem one = p;
  one.a = moved(p.a, p.dtypeAB, index * p.strideA);
  one.b = moved(p.b, p.dtypeB(), index * p.strideB);
  one.c = const_cast<void *>(moved(p.c, p.dtypeC, index * p.strideC));
  return one;
}
