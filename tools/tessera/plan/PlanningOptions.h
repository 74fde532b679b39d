//===- PlanningOptions.h - what tessera plan is asked for -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_PLAN_PLANNINGOPTIONS_H
#define TESSERA_TOOLS_TESSERA_PLAN_PLANNINGOPTIONS_H

#include "tools/tessera/options/OptionGroups.h"
#include <map>

namespace tessera {

/// The options of tessera plan. 0 and "" mean: not given.
struct PlanningOptions : PlannedModel {
  std::string cluster; ///< A file.
  int64_t gpus = 0;    ///< Devices.
  std::string objective = "time";
  double tokens = 0; ///< In a whole training.
  int64_t evaluations = 60;
  int64_t plans = 10;                 ///< So many are printed.
  std::vector<std::string> explained; ///< Two files.
  /// Options of PlanFlags.def that are not searched, with their texts.
  std::map<std::string, std::string> given;
  int32_t threads = 0;
  std::string output, html; ///< Files.
  bool json = false;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_PLAN_PLANNINGOPTIONS_H
