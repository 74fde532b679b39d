//===- CompareRuns.h - both programs, run and compared ----------*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_COMPARERUNS_H
#define TESSERA_LIB_VERIFY_COMPARERUNS_H

#include "lib/Verify/StepDerivative.h"
#include "tessera/Options/PlanOptions.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tessera {

class ArtifactFile;

/// The results that the runs of the serial and the parallel program have in
/// common.
struct NumericCheck {
  int64_t steps = 0, values = 0;
  double worst = 0;       ///< Largest relative difference of any value.
  std::string worstName;  ///< The value that has it.
  std::string difference; ///< The first value that differs; "" if none does.
  /// Why nothing was compared from there on; then there is no difference.
  std::optional<Doubt> doubt;
  /// Trials before this one, and their elements, that f64 has decided.
  int64_t judgedTrials = 0, judgedElements = 0;
  std::string note;     ///< An addition to the table; it begins with ";".
  int64_t messages = 0; ///< Between stages, checked; 0: there are none.
};

struct RunOptions {
  Precision precision; ///< Sets the tolerance.
  int64_t trial = 0;   ///< Each has initial values and batches of its own.
  /// Compare up to the doubt of another precision and settle it: a difference
  /// where f64 has an input of it too far from the step.
  const Doubt *doubt = nullptr;
  /// Muon makes unit steps of directions that rounding alone has given a
  /// gradient: if not, one step is run, and what Muon makes is not compared.
  bool comparesMuon = true;
  /// Diagnostics give the program that is compared this name.
  const char *other = "parallel program";
};

/// Returns how much more rounding a program of this size piles up than a shrunk
/// one: the error of a sum grows with the root of its terms (Higham and Mary
/// 2019), the longest are over tokens, and each layer adds its own.
double growthOf(const ArtifactFile &artifact);

/// Runs both artifacts on the same tokens from the same seed, all ranks in this
/// process, and compares every activation, gradient, moment and parameter, in
/// program order, up to the first doubt.
llvm::Expected<NumericCheck> compareRuns(const std::string &serialPath,
                                         const std::string &parallelPath,
                                         const RunOptions &options);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_COMPARERUNS_H
