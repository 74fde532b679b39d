//===- AlignLines.h - which lines of a text were in another one -*- C++ -*-===//

#ifndef TESSERA_LIB_PAGE_ALIGNLINES_H
#define TESSERA_LIB_PAGE_ALIGNLINES_H

#include <cstdint>
#include <vector>

namespace tessera {

/// The keys by which lines are compared: lines with equal `exact` are the same,
/// those with equal `loose` may be two versions of one.
struct LineKey {
  uint32_t exact, loose;
};

/// Returns for each line of `after` the line of `before` that it continues, or
/// -1. The numbers grow: no two pairs cross.
std::vector<int64_t> alignLines(const std::vector<LineKey> &before,
                                const std::vector<LineKey> &after);

} // namespace tessera

#endif // TESSERA_LIB_PAGE_ALIGNLINES_H
