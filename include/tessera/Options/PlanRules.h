//===- PlanRules.h - which options go together ------------------*- C++ -*-===//
// The driver, named pipelines, plans that are files, the planner and programs
// that call the compiler ask these functions, so that all of them use the same
// words. They refuse the same plans, except that a caller without flags cannot
// tell a default that was given. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_PLANRULES_H
#define TESSERA_OPTIONS_PLANRULES_H

#include "tessera/Options/PlanFlags.h"

namespace tessera {

/// Returns why a plan cannot be compiled, with the remedy, or "". A flag of
/// `given` that the plan would ignore is refused too.
std::string checkPlan(const PlanOptions &plan, const GivenFlags &given);

/// The same for a caller that has no flags: what differs from the default was
/// given.
std::string checkPlan(const PlanOptions &plan);

/// Returns why a plan would ignore a flag of `given`, or "".
std::string checkGiven(const PlanOptions &plan, const GivenFlags &given);

/// Returns why sums cannot have a fixed order on a mesh, or "".
std::string checkInvariantMesh(const MeshShape &mesh);

/// Chooses the values that follow from those of other flags.
void completePlan(PlanOptions &plan, const GivenFlags &given);

/// Returns whether some plan with these programs uses the flags of a purpose.
bool isUsedBy(FlagPurpose purpose, ProgramSet programs);

} // namespace tessera

#endif // TESSERA_OPTIONS_PLANRULES_H
