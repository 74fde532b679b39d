//===- RunLength.h - how many steps --epochs makes --------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H

#include "tessera/tessera.h"
#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

/// Returns how many sequences so many epochs of `sequences` have, rounded up; 0
/// if they are more than a run can read.
int64_t sequencesOfEpochs(double epochs, int64_t sequences);

/// Returns how many steps of `batch` sequences read so many; 0 for 0 or less.
int64_t stepsOfSequences(int64_t sequences, int64_t batch);

/// Puts the steps of --epochs, if it is given, in place of those of --steps, as
/// far as they are known before a checkpoint says what its run has read. Prints
/// an error and returns false where the data cannot be opened.
bool useEpochs(TrainOptions &options, const tsr_artifact *artifact);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNLENGTH_H
