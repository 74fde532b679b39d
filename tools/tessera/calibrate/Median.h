//===- Median.h - the middle of some numbers --------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_MEDIAN_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_MEDIAN_H

#include <algorithm>
#include <vector>

namespace tessera {

/// Of an even number of values the larger one in the middle; 0 of none.
inline double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_MEDIAN_H
