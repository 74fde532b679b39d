//===- StepDerivative.h - where rounding decides a derivative ---*- C++ -*-===//
// ReLU's derivative is 0 up to x = 0 and 1 above. Where rounding carries x to
// the other side, a gradient g f'(x) is 0 in one run and g in another: both are
// right, however large g is.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_STEPDERIVATIVE_H
#define TESSERA_LIB_VERIFY_STEPDERIVATIVE_H

#include "lib/Verify/Doubt.h"
#include <optional>

namespace tessera {

/// A gradient g f'(x) of one run, element by element.
struct StepGradient {
  std::vector<double> result, gradient, input;
};

/// The elements in which two runs differ by more than `allowed`, if in each of
/// them x lies on different sides of 0 and each result is what its own x makes
/// of g. Nothing if one of them differs for another reason.
std::optional<std::vector<int64_t>> elementsAtStep(const StepGradient &serial,
                                                   const StepGradient &parallel,
                                                   double allowed);

/// Returns the first of the doubt's elements that f64 has farther from 0 than
/// rounding explains, or -1.
int64_t firstAwayFromStep(const std::vector<double> &input, const Doubt &doubt);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_STEPDERIVATIVE_H
