//===- StartingPoint.h - which parameters a run begins with -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STARTINGPOINT_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STARTINGPOINT_H

#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

/// The parameters of a run that stay as they are.
enum class Frozen { None, Some, AllButAdapters };

/// A run that is not resumed and has no --load-weights begins with random
/// parameters. That is an error, which is returned, for adapters, and for
/// frozen parameters where weights lie beside the model; else "", and a note
/// where weights lie there or random parameters stay as they are.
/// --random-weights says that all of this is meant.
std::string checkStartingPoint(const TrainOptions &options, Frozen frozen);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STARTINGPOINT_H
