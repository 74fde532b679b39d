//===- PlanRules.cpp - which options go together --------------------------===//
// A row for each rule: when a plan breaks it, what is refused, why, and what to
// use instead.
//===----------------------------------------------------------------------===//

#include "tessera/Options/PlanRules.h"
#include "lib/Options/RuleText.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/ScheduleShape.h"
#include "tessera/Options/SpecialIds.h"
#include <algorithm>

using namespace tessera;

namespace {

using Plan = const PlanOptions &;

bool hasOne(Plan plan, MeshAxis axis) { return plan.mesh.sizeOf(axis) == 1; }
bool trainsBesideOthers(Plan plan) {
  return plan.programs == ProgramSet::TrainAndGenerate;
}
bool servesParameters(Plan plan) {
  return plan.strategies.dpSync == DpSync::ParameterServer;
}
bool usesRing(Plan plan) {
  return plan.strategies.contextParallel == ContextParallel::Ring;
}
bool splitsState(Plan plan) { return plan.strategies.zero != ZeroStage::None; }
bool fixesOrder(Plan plan) { return plan.strategies.layoutInvariant != 0; }

struct PlanRule {
  bool (*isBroken)(Plan);
  const char *what, *why, *instead;
  /// Says what is wrong, or "", in the place of the other members: the rule is
  /// that of another table.
  std::string (*check)(Plan, const GivenFlags &given) = nullptr;
};

std::string checkStages(Plan plan, const GivenFlags &) {
  if (hasOne(plan, MeshAxis::Pipeline))
    return "";
  return pipeline::checkShape(plan.stages.schedule,
                              {plan.mesh.sizeOf(MeshAxis::Pipeline),
                               plan.stages.virtualStages,
                               std::max<int64_t>(1, plan.sizes.microBatches)});
}

std::string checkAxes(Plan plan, const GivenFlags &) {
  return fixesOrder(plan) ? checkInvariantMesh(plan.mesh) : "";
}

PlanRule ruleOf(std::string (*check)(Plan, const GivenFlags &)) {
  return {nullptr, nullptr, nullptr, nullptr, check};
}

const PlanRule kPlanRules[] = {
    // The other rules divide by these values. Parsers refuse them, too, but a
    // program that calls the compiler sets them as it likes.
    ruleOf([](Plan plan, const GivenFlags &) { return checkValues(plan); }),
    ruleOf(checkGiven),

    // Sequences and labels.
    {[](Plan plan) {
       return plan.sizes.separator >= 0 && !plan.sizes.documentMask;
     },
     "--separator",
     "is the token that ends a document, which matters to --document-mask "
     "alone",
     "give both, or leave it out"},
    {[](Plan plan) {
       return !plan.sizes.specialIds.empty() &&
              !parseSpecialIds(plan.sizes.specialIds);
     },
     "--special-ids {special-ids}", "is no list of tokens",
     "give ids with commas between them, e.g. 0,2,3, or none"},

    // Axes of the mesh.
    {[](Plan plan) {
       return plan.strategies.sequenceParallel &&
              hasOne(plan, MeshAxis::Tensor);
     },
     "--sequence-parallel",
     "splits activations over mesh axis 'tp', which has one rank",
     "use a mesh with tp=2 or more, or leave it out"},
    {[](Plan plan) {
       return !plan.strategies.replicatedLayers.ranges.empty() &&
              hasOne(plan, MeshAxis::Tensor);
     },
     "--replicated-layers",
     "names layers that mesh axis 'tp' does not split, and it has one rank",
     "use a mesh with tp=2 or more, or leave it out"},
    {[](Plan plan) {
       return splitsState(plan) && hasOne(plan, MeshAxis::Data) &&
              hasOne(plan, MeshAxis::Context);
     },
     "--zero",
     "splits state over mesh axes 'dp' and 'cp', which have one rank each",
     "use a mesh with dp=2, cp=2 or more, or leave it out"},
    {[](Plan plan) {
       return !splitsState(plan) && !hasOne(plan, MeshAxis::Replica);
     },
     "mesh axis 'dp_replicate' of size {dp_replicate}",
     "holds copies of what --zero splits over 'dp' and 'cp', and it is 0",
     "use 'dp' instead, or --zero 1, 2 or 3"},
    {[](Plan plan) {
       return servesParameters(plan) &&
              plan.mesh.sizeOf(MeshAxis::Data) > kMostOwners;
     },
     "--dp-sync parameter-server",
     "makes a program for each rank of mesh axis 'dp', at most {most owners}, "
     "but it has {dp}",
     "use --dp-sync all-reduce"},
    {[](Plan plan) {
       return servesParameters(plan) && hasOne(plan, MeshAxis::Data);
     },
     "--dp-sync parameter-server",
     "gives parameters to ranks of mesh axis 'dp', which has one rank",
     "use a mesh with dp=2 or more, or leave it out"},
    {[](Plan plan) { return servesParameters(plan) && splitsState(plan); },
     "--dp-sync parameter-server",
     "updates whole parameters, --zero {zero} slices of them",
     "leave one of the two out"},
    {[](Plan plan) {
       return servesParameters(plan) &&
              plan.optimizer.kind == OptimizerKind::Sgd &&
              plan.optimizer.momentum == 0;
     },
     "--dp-sync parameter-server",
     "keeps the optimizer's state at owners, and --optimizer sgd with "
     "--momentum 0 has none",
     "use --dp-sync all-reduce"},
    {[](Plan plan) {
       return servesParameters(plan) && !hasOne(plan, MeshAxis::Pipeline);
     },
     "--dp-sync parameter-server", "is not supported with mesh axis 'pp'",
     "use --dp-sync all-reduce, or 'tp' and 'cp'"},
    {[](Plan plan) {
       return plan.memory.expertBuffer > 0 && hasOne(plan, MeshAxis::Expert);
     },
     "--expert-buffer",
     "bounds the rows that mesh axis 'ep' brings to a rank, and it has one "
     "rank",
     "use a mesh with ep=2 or more, or leave it out"},
    {[](Plan plan) {
       return usesRing(plan) &&
              plan.mesh.sizeOf(MeshAxis::Context) > kMostRingRanks;
     },
     "--context-parallel ring",
     "has a step for each rank of mesh axis 'cp', at most {most ring ranks}, "
     "but it has {cp}",
     "use --context-parallel all-gather"},
    {[](Plan plan) {
       return usesRing(plan) && hasOne(plan, MeshAxis::Context);
     },
     "--context-parallel ring",
     "passes keys and values along mesh axis 'cp', which has one rank",
     "use a mesh with cp=2 or more, or leave it out"},
    {[](Plan plan) {
       return plan.strategies.contextParallel == ContextParallel::Ulysses &&
              hasOne(plan, MeshAxis::Context);
     },
     "--context-parallel ulysses",
     "exchanges heads over mesh axis 'cp', which has one rank",
     "use a mesh with cp=2 or more, or leave it out"},
    ruleOf(checkStages),

    // The optimizer and memory.
    ruleOf([](Plan plan, const GivenFlags &given) {
      return checkOptimizer(plan.optimizer, given);
    }),
    {[](Plan plan) {
       return longestOf(plan) > kMostCachedTokens ||
              plan.generation.batch > kMostCachedTokens / longestOf(plan) ||
              plan.generation.chunk > kMostCachedTokens;
     },
     "--max-batch {max-batch} requests of --max-length {longest} tokens, and "
     "--prefill-chunk {prefill-chunk} tokens,",
     "must be at most {most tokens} tokens each",
     "use fewer or shorter requests"},
    {[](Plan plan) {
       return plan.memory.recompute == Recompute::Auto &&
              plan.memory.limit == 0;
     },
     "--recompute auto", "needs --memory-limit", nullptr},
    {[](Plan plan) {
       return plan.memory.recomputeLayers >= 0 &&
              plan.memory.recompute != Recompute::Full;
     },
     "--recompute-layers", "needs --recompute full", nullptr},

    // The device.
    {[](Plan plan) {
       return plan.device.target.isCuda() && plan.precision == Precision::F64 &&
              !plan.device.emulateGrid;
     },
     "precision 'f64'", "is not supported on device 'cuda'",
     "use f32 or bf16, or --device cpu"},

    // Sums of a fixed order.
    {[](Plan plan) {
       return fixesOrder(plan) && plan.precision == Precision::BF16;
     },
     "--layout-invariant", "does not support precision 'bf16'", "use f32"},
    {[](Plan plan) { return fixesOrder(plan) && plan.device.target.isCuda(); },
     "--layout-invariant", "does not support device 'cuda'",
     "use --device cpu"},
    {[](Plan plan) {
       return fixesOrder(plan) && plan.strategies.sequenceParallel;
     },
     "--layout-invariant",
     "does not support --sequence-parallel, which adds over sequences on 'tp' "
     "and over the batch on 'dp'",
     "leave it out"},
    {[](Plan plan) { return fixesOrder(plan) && splitsState(plan); },
     "--layout-invariant",
     "does not support --zero, which adds squares over 'dp'", "use --zero 0"},
    {[](Plan plan) {
       return fixesOrder(plan) && plan.optimizer.kind == OptimizerKind::Muon;
     },
     "--layout-invariant",
     "does not support --optimizer muon, whose matrix products add over 'tp'",
     "use adamw, sgd or lion"},
    {[](Plan plan) { return fixesOrder(plan) && servesParameters(plan); },
     "--layout-invariant", "does not support --dp-sync {dp-sync}",
     "use --dp-sync all-reduce"},
    ruleOf(checkAxes),

    // Programs for inference.
    {[](Plan plan) {
       return trainsBesideOthers(plan) && !hasOne(plan, MeshAxis::Context);
     },
     "--programs {programs}", "does not support mesh axis 'cp'",
     "use dp, tp, pp and ep, or compile two artifacts"},
    {[](Plan plan) { return trainsBesideOthers(plan) && fixesOrder(plan); },
     "--programs {programs}",
     "does not support --layout-invariant, which splits or orders what both "
     "programs share in a way that only a training step knows",
     "leave it out, or compile two artifacts"},
    {[](Plan plan) {
       return trainsBesideOthers(plan) && servesParameters(plan);
     },
     "--programs {programs}",
     "does not support --dp-sync {dp-sync}, which splits or orders what both "
     "programs share in a way that only a training step knows",
     "leave it out, or compile two artifacts"},
    {[](Plan plan) {
       return generates(plan.programs) &&
              plan.generation.batch % plan.mesh.lanes() != 0;
     },
     "--max-batch {max-batch}",
     "cannot be split over {lanes} ranks of dp and ep",
     "use a multiple of {lanes}"},
};

} // namespace

std::string tessera::checkInvariantMesh(const MeshShape &mesh) {
  for (const MeshShape::Axis &axis : mesh.axes)
    if (axis.size > 1 && axis.axis != MeshAxis::Data &&
        axis.axis != MeshAxis::Tensor)
      return std::string("--layout-invariant does not support mesh axis '") +
             nameOf(axis.axis) + "'; use dp and tp";
  return "";
}

std::string tessera::checkPlan(const PlanOptions &plan,
                               const GivenFlags &given) {
  for (const PlanRule &rule : kPlanRules) {
    if (rule.check) {
      if (std::string why = rule.check(plan, given); !why.empty())
        return why;
    } else if (rule.isBroken(plan)) {
      return RuleText{rule.what, rule.why, rule.instead}.str(plan);
    }
  }
  return "";
}

std::string tessera::checkPlan(const PlanOptions &plan) {
  return checkPlan(plan, changedFlags(plan));
}

void tessera::completePlan(PlanOptions &plan, const GivenFlags &given) {
  if (!given.count(flagName("schedule")) && plan.stages.virtualStages > 1)
    plan.stages.schedule = ScheduleKind::Interleaved;
}
