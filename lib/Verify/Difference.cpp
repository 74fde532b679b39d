//===- Difference.cpp - how far two runs are apart ------------------------===//

#include "lib/Verify/Difference.h"

using namespace tessera;

Difference tessera::differenceOf(const std::vector<double> &found,
                                 const std::vector<double> &wanted,
                                 double floor) {
  Difference difference{floor, 0};
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (difference.foundNaN < 0 && std::isnan(found[k]))
      difference.foundNaN = static_cast<int64_t>(k);
    if (difference.wantedNaN < 0 && std::isnan(wanted[k]))
      difference.wantedNaN = static_cast<int64_t>(k);
    if (std::isinf(wanted[k]) && found[k] == wanted[k])
      continue;
    if (!std::isnan(wanted[k]))
      difference.largest = largerOf(difference.largest, std::fabs(wanted[k]));
    difference.error =
        largerOf(difference.error, std::fabs(found[k] - wanted[k]));
  }
  return difference;
}
