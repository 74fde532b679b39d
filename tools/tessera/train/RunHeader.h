//===- RunHeader.h - what a run is, before its first step -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RUNHEADER_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RUNHEADER_H

#include "tessera/Report/Report.h"
#include "tessera/tessera.h"
#include "tools/tessera/train/TrainOptions.h"
#include <string>

namespace tessera {

struct RunFacts {
  const TrainOptions &options;
  const Report &report;
  const tsr_artifact *artifact;
  const tsr_data *data;
  int64_t sequencesRead; ///< Before the first step.
  int64_t firstStep, lastStep;
};

/// Describes a run in lines: model and mesh; tokens, sequences and the epochs
/// that all its steps make, for each file if files have weights; how many
/// parameters are trained and frozen, and where they come from.
std::string runHeader(const RunFacts &facts);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RUNHEADER_H
