//===- PlanChoice.h - before and after a search -----------------*- C++ -*-===//

#ifndef TESSERA_PLANNER_PLANCHOICE_H
#define TESSERA_PLANNER_PLANCHOICE_H

#include "tessera/Plan/PlanFile.h"
#include "tessera/Planner/Planner.h"

namespace tessera {

/// Returns why nothing can be searched for a model and what is given of its
/// plan, with the remedy, or "". Completes the number of devices by the mesh.
std::string refuseSearch(PlanningOptions &options);
/// The same of the programs alone, for a plan that is compared with another.
std::string refusePrograms(const PlanningOptions &options);

/// Completes the number of devices by those of the cluster. The ranks of a CPU,
/// as many as one likes, share its cores. Returns why the cluster is too small,
/// or "".
std::string chooseDevices(PlanningOptions &options,
                          const simulate::Cluster &cluster);

/// Returns why a search has found nothing that fits, and what is nearest.
std::string whyNothingFits(const PlanningResult &result,
                           const plan::SearchSpace &space);

/// Returns a plan of the model at `path` as a file has it.
llvm::Expected<plan::PlanFile> planFileOf(const std::string &path,
                                          const PlannedStep &step,
                                          const plan::SearchSpace &space,
                                          const simulate::Cluster &cluster);

} // namespace tessera

#endif // TESSERA_PLANNER_PLANCHOICE_H
