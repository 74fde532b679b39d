//===- Median.h - the middle of some numbers --------------------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_MEDIAN_H
#define TESSERA_LIB_CALIBRATE_MEDIAN_H

#include <algorithm>
#include <vector>

namespace tessera {

/// Returns the median; the larger value in the middle if the number of values
/// is even, and 0 if there are none.
inline double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_MEDIAN_H
