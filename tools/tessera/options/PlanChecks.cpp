//===- PlanChecks.cpp - do the options of a plan go together? -------------===//

#include "tools/tessera/options/PlanChecks.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/SpecialIds.h"
#include "tessera/Schedule/PipelineSchedule.h"
#include <algorithm>

using namespace tessera;

/// Each owner is a program of its own, and each part of a ring a step of one.
static constexpr int64_t kMostOwners = 1024, kMostRingRanks = 1024;
/// Caches of so many tokens have a size in bytes that does not overflow.
static constexpr int64_t kMostCachedTokens = int64_t(1) << 40;

static std::string checkServer(const PlanOptions &plan) {
  if (plan.strategies.dpSync != DpSync::ParameterServer)
    return "";
  if (int64_t owners = plan.mesh.sizeOf(MeshAxis::Data); owners > kMostOwners)
    return "--dp-sync parameter-server makes a program for each rank of mesh "
           "axis 'dp', at most " +
           std::to_string(kMostOwners) + ", but it has " +
           std::to_string(owners) + "; use --dp-sync all-reduce";
  if (plan.mesh.sizeOf(MeshAxis::Data) == 1)
    return "--dp-sync parameter-server gives parameters to ranks of mesh axis "
           "'dp', which has one rank; use a mesh with dp=2 or more, or leave "
           "it out";
  if (plan.strategies.zero != ZeroStage::None)
    return "--dp-sync parameter-server updates whole parameters, --zero " +
           std::string(nameOf(plan.strategies.zero)) +
           " slices of them; leave one of the two out";
  if (plan.optimizer.kind == OptimizerKind::Sgd && plan.optimizer.momentum == 0)
    return "--dp-sync parameter-server keeps the optimizer's state at owners, "
           "and --optimizer sgd with --momentum 0 has none; use --dp-sync "
           "all-reduce";
  if (plan.mesh.sizeOf(MeshAxis::Pipeline) > 1)
    return "--dp-sync parameter-server is not supported with mesh axis 'pp'; "
           "use --dp-sync all-reduce, or 'tp' and 'cp'";
  return "";
}

static std::string checkContextParallel(const PlanOptions &plan) {
  const int64_t ranks = plan.mesh.sizeOf(MeshAxis::Context);
  if (plan.strategies.contextParallel == ContextParallel::Ring &&
      ranks > kMostRingRanks)
    return "--context-parallel ring has a step for each rank of mesh axis "
           "'cp', at most " +
           std::to_string(kMostRingRanks) + ", but it has " +
           std::to_string(ranks) + "; use --context-parallel all-gather";
  if (ranks > 1)
    return "";
  const char *remedy = " mesh axis 'cp', which has one rank; use a mesh with "
                       "cp=2 or more, or leave it out";
  switch (plan.strategies.contextParallel) {
  case ContextParallel::AllGather:
    return "";
  case ContextParallel::Ulysses:
    return std::string("--context-parallel ulysses exchanges heads over") +
           remedy;
  case ContextParallel::Ring:
    return std::string("--context-parallel ring passes keys and values along") +
           remedy;
  }
  return "";
}

static std::string checkExperts(const PlanOptions &plan) {
  if (plan.memory.expertBuffer <= 0)
    return "";
  if (plan.mesh.sizeOf(MeshAxis::Expert) == 1)
    return "--expert-buffer bounds the rows that mesh axis 'ep' brings to a "
           "rank, and it has one rank; use a mesh with ep=2 or more, or leave "
           "it out";
  return "";
}

static std::string checkStrategies(const PlanOptions &plan) {
  if (plan.strategies.sequenceParallel &&
      plan.mesh.sizeOf(MeshAxis::Tensor) == 1)
    return "--sequence-parallel splits activations over mesh axis 'tp', which "
           "has one rank; use a mesh with tp=2 or more, or leave it out";
  if (plan.strategies.zero != ZeroStage::None &&
      plan.mesh.sizeOf(MeshAxis::Data) == 1)
    return "--zero splits state over mesh axis 'dp', which has one rank; use a "
           "mesh with dp=2 or more, or leave it out";
  if (std::string why = checkServer(plan); !why.empty())
    return why;
  if (std::string why = checkExperts(plan); !why.empty())
    return why;
  return checkContextParallel(plan);
}

static std::string checkStages(const PlanOptions &plan) {
  int64_t stages = plan.mesh.sizeOf(MeshAxis::Pipeline);
  if (stages == 1)
    return "";
  return pipeline::checkShape(plan.stages.schedule,
                              {stages, plan.stages.virtualStages,
                               std::max<int64_t>(1, plan.sizes.microBatches)});
}

static std::string checkMemory(const MemoryOptions &memory) {
  if (memory.recompute == Recompute::Auto && memory.limit == 0)
    return "--recompute auto needs --memory-limit";
  if (memory.recomputeLayers >= 0 && memory.recompute != Recompute::Full)
    return "--recompute-layers needs --recompute full";
  return "";
}

static std::string checkGeneration(const GenerationOptions &generation) {
  constexpr int64_t usual = 4096; // tokens, where no length is given
  const int64_t length = generation.length ? generation.length : usual;
  if (length <= kMostCachedTokens &&
      generation.batch <= kMostCachedTokens / length &&
      generation.chunk <= kMostCachedTokens)
    return "";
  return "--max-batch " + std::to_string(generation.batch) +
         " requests of --max-length " + std::to_string(length) +
         " tokens, and --prefill-chunk " + std::to_string(generation.chunk) +
         " tokens, must be at most " + std::to_string(kMostCachedTokens) +
         " tokens each; use fewer or shorter requests";
}

static std::string checkMasks(const SizeOptions &sizes) {
  if (sizes.separator >= 0 && !sizes.documentMask)
    return "--separator is the token that ends a document, which matters to "
           "--document-mask alone; give both, or leave it out";
  if (!sizes.specialIds.empty() && !parseSpecialIds(sizes.specialIds))
    return "--special-ids " + sizes.specialIds +
           " is no list of tokens; give ids with commas between them, e.g. "
           "0,2,3, or none";
  return "";
}

std::string tessera::checkPlan(const PlanOptions &plan) {
  if (std::string why = checkMasks(plan.sizes); !why.empty())
    return why;
  if (std::string why = checkStrategies(plan); !why.empty())
    return why;
  if (std::string why = checkStages(plan); !why.empty())
    return why;
  if (std::string why = checkOptimizer(plan.optimizer); !why.empty())
    return why;
  if (std::string why = checkGeneration(plan.generation); !why.empty())
    return why;
  return checkMemory(plan.memory);
}
