//===- RunLength.h - how many steps --epochs makes --------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H

#include "tessera/tessera.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// Steps of `batch` sequences that read `sequences` at least `epochs` times.
/// 0: more than a run can have.
int64_t stepsOfEpochs(double epochs, int64_t sequences, int64_t batch);

/// Puts the steps of --epochs, if it is given, in place of those of --steps.
/// Prints an error and returns false where the data cannot be opened.
bool useEpochs(DriverOptions &options, const tsr_artifact *artifact);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
