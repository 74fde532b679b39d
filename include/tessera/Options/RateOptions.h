//===- RateOptions.h - the options of the learning rate ---------*- C++ -*-===//
// Options that were not given follow from the rest, or are those an artifact
// was compiled with. All functions return what is wrong, or "".
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_RATEOPTIONS_H
#define TESSERA_OPTIONS_RATEOPTIONS_H

#include "tessera/Options/PlanFlags.h"
#include <string>

namespace tessera {

/// Completes the learning rate of a model that is compiled now.
std::string completeRate(LearningRateOptions &rate, const GivenFlags &given);

/// Completes that of a run of an artifact: `rate` keeps what was given, all
/// else becomes as compiled. An artifact without a length takes that of `rate`.
std::string mergeRate(const LearningRateOptions &compiled,
                      LearningRateOptions &rate, const GivenFlags &given);

/// "--steps 4 (was 100), --lr 0.001 (was 0.0003)"; "" if they are the same.
std::string rateChanges(const LearningRateOptions &compiled,
                        const LearningRateOptions &rate);

} // namespace tessera

#endif // TESSERA_OPTIONS_RATEOPTIONS_H
