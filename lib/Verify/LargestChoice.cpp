//===- LargestChoice.cpp - where rounding chooses the largest -------------===//

#include "lib/Verify/LargestChoice.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;

/// Are all elements of a row numbers, and the chosen logits the largest?
static bool choosesLargest(const Choice &run, size_t begin, size_t end) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (size_t k = begin; k < end; ++k) {
    if (std::isnan(run.gates[k]) || std::isnan(run.logits[k]))
      return false;
    if (run.gates[k] != 0)
      least = std::min(least, run.logits[k]);
    else
      most = std::max(most, run.logits[k]);
  }
  return least >= most;
}

/// Do the runs agree about a row, within `allowed`?
static bool agree(const Choice &serial, const Choice &parallel, size_t begin,
                  size_t end, double allowed) {
  for (size_t k = begin; k < end; ++k)
    if (!(std::fabs(serial.gates[k] - parallel.gates[k]) <= allowed))
      return false;
  return true;
}

std::optional<std::vector<int64_t>>
tessera::elementsOfOtherChoice(const Choice &serial, const Choice &parallel,
                               int64_t columns, double allowed) {
  std::vector<int64_t> elements;
  const auto width = static_cast<size_t>(columns);
  for (size_t begin = 0; begin < serial.gates.size(); begin += width) {
    const size_t end = begin + width, before = elements.size();
    for (size_t k = begin; k < end; ++k)
      if ((serial.gates[k] != 0) != (parallel.gates[k] != 0))
        elements.push_back(static_cast<int64_t>(k));
    bool isExplained = elements.size() == before
                           ? agree(serial, parallel, begin, end, allowed)
                           : choosesLargest(serial, begin, end) &&
                                 choosesLargest(parallel, begin, end);
    if (!isExplained)
      return std::nullopt;
  }
  return elements;
}

int64_t tessera::firstAwayFromTie(const std::vector<double> &logits,
                                  const Doubt &doubt) {
  int64_t first = -1; // the row's first
  for (int64_t element : doubt.elements) {
    if (first < 0 || first / doubt.columns != element / doubt.columns)
      first = element;
    if (!(std::fabs(logits[first] - logits[element]) <= doubt.margin))
      return element;
  }
  return -1;
}
