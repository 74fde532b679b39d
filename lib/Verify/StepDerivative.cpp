//===- StepDerivative.cpp - where rounding decides a derivative -----------===//

#include "lib/Verify/StepDerivative.h"
#include <cmath>

using namespace tessera;

/// Is the element g where x is above 0, and 0 elsewhere? The product of g and
/// 1 is g, rounded at most once.
static bool followsInput(const StepGradient &run, size_t k, double allowed) {
  if (run.input[k] > 0)
    return std::fabs(run.result[k] - run.gradient[k]) <= allowed;
  return run.result[k] == 0;
}

std::optional<std::vector<int64_t>>
tessera::elementsAtStep(const StepGradient &serial,
                        const StepGradient &parallel, double allowed) {
  std::vector<int64_t> elements;
  for (size_t k = 0; k < serial.result.size(); ++k) {
    if (std::fabs(serial.result[k] - parallel.result[k]) <= allowed)
      continue;
    bool isDecidedByInput = (serial.input[k] > 0) != (parallel.input[k] > 0) &&
                            followsInput(serial, k, allowed) &&
                            followsInput(parallel, k, allowed);
    if (!isDecidedByInput)
      return std::nullopt;
    elements.push_back(static_cast<int64_t>(k));
  }
  return elements;
}

int64_t tessera::firstAwayFromStep(const std::vector<double> &input,
                                   const Doubt &doubt) {
  for (int64_t element : doubt.elements)
    if (!(std::fabs(input[element]) <= doubt.margin))
      return element;
  return -1;
}
