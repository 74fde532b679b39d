//===- GemmRegions.h - Cuts a product into regions of C ---------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_GEMMREGIONS_H
#define TESSERA_RUNTIME_CPU_GEMMREGIONS_H

#include "runtime/cpu/GemmProblem.h"

namespace tessera {

/// A grid of regions over C; some may be empty.
class GemmRegions {
public:
  /// The grid of so many regions that packs least: each row of regions packs B,
  /// each column A. Tiny products are one region: they are not worth waking a
  /// team.
  GemmRegions(const GemmProblem &problem, int regions);

  int count() const { return static_cast<int>(down * across); }
  GemmRegion at(int index) const;

private:
  const GemmProblem &p;
  int64_t down, across;
};

/// Returns the product of one region as a problem of its own.
GemmProblem cutOut(const GemmProblem &p, const GemmRegion &region);

/// Returns the product of one matrix of the batch.
GemmProblem matrixOf(const GemmProblem &p, int64_t index);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_GEMMREGIONS_H
