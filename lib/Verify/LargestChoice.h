//===- LargestChoice.h - where rounding chooses the largest -----*- C++ -*-===//
// A router gives each token the experts with the largest logits. Where two
// logits are nearly equal, rounding decides which of them is chosen, and the
// gates of the row differ by their whole size.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_LARGESTCHOICE_H
#define TESSERA_LIB_VERIFY_LARGESTCHOICE_H

#include "lib/Verify/Doubt.h"
#include <optional>

namespace tessera {

/// Gates of one run and the logits that they were made of, rows x columns. A
/// gate is 0 where its logit was not chosen.
struct Choice {
  std::vector<double> gates, logits;
};

/// The elements that one run alone has chosen, if each run has in these rows
/// chosen the largest of its own logits, and all other rows differ by at most
/// `allowed`. Nothing if something differs for another reason.
std::optional<std::vector<int64_t>>
elementsOfOtherChoice(const Choice &serial, const Choice &parallel,
                      int64_t columns, double allowed);

/// Returns the first of the doubt's elements that f64 has farther from another
/// one of its row than rounding explains, or -1.
int64_t firstAwayFromTie(const std::vector<double> &logits, const Doubt &doubt);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_LARGESTCHOICE_H
