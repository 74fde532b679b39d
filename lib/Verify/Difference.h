//===- Difference.h - how far two runs are apart ----------------*- C++ -*-===//
// NaN is never equal to anything, and no comparison may lose it: std::max and
// a < b are false beside NaN, so both sides are asked first.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_DIFFERENCE_H
#define TESSERA_LIB_VERIFY_DIFFERENCE_H

#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera {

/// The larger number; NaN if one of them is.
inline double largerOf(double a, double b) {
  return std::isnan(a) || b <= a ? a : b;
}

/// One comparison of a value.
struct Difference {
  double largest = 0; ///< Number of the serial run, or the floor.
  /// Largest difference of an element; NaN where an element of either run is.
  double error = 0;
  /// The first element that is NaN in each run; -1: none is.
  int64_t foundNaN = -1, wantedNaN = -1;

  bool hasNaN() const { return foundNaN >= 0 || wantedNaN >= 0; }
  double relative() const { return error / largest; }
};

/// Compares a run with the serial one. Elements that are the same infinity are
/// equal: where a query sees no key, both log-sum-exps are -infinity.
Difference differenceOf(const std::vector<double> &found,
                        const std::vector<double> &wanted, double floor);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_DIFFERENCE_H
