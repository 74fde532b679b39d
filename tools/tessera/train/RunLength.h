//===- RunLength.h - how many steps --epochs makes --------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H

#include "tessera/tessera.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// Sequences in so many epochs of `sequences`, rounded up; 0: more than a run
/// can read.
int64_t sequencesOfEpochs(double epochs, int64_t sequences);

/// Steps of `batch` sequences that read so many; 0 or less: none.
int64_t stepsOfSequences(int64_t sequences, int64_t batch);

/// Puts the steps of --epochs, if it is given, in place of those of --steps, as
/// far as they are known before a checkpoint says what its run has read. Prints
/// an error and returns false where the data cannot be opened.
bool useEpochs(DriverOptions &options, const tsr_artifact *artifact);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
