//===- PlanningOptions.h - a search for plans -------------------*- C++ -*-===//

#ifndef TESSERA_PLANNER_PLANNINGOPTIONS_H
#define TESSERA_PLANNER_PLANNINGOPTIONS_H

#include "tessera/Pipelines/PlannedModel.h"
#include "tessera/Text/ProgressListener.h"
#include <map>

namespace tessera {

/// A search for plans. 0 and "" mean: not given.
struct PlanningOptions : PlannedModel {
  int64_t gpus = 0; ///< Devices.
  std::string objective = "time";
  double tokens = 0; ///< In a whole training.
  int64_t evaluations = 60;
  int64_t plans = 10; ///< So many are printed.
  /// Options of PlanFlags.def that are not searched, with their texts.
  std::map<std::string, std::string> given;
  int32_t threads = 0;
  Progress progress;
};

} // namespace tessera

#endif // TESSERA_PLANNER_PLANNINGOPTIONS_H
