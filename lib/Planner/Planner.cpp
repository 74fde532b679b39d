//===- Planner.cpp - the best plans of a model on a cluster ---------------===//

#include "tessera/Planner/Planner.h"
#include "tessera/Options/Counted.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

using namespace tessera;

void tessera::forEachNumber(size_t count, size_t threads,
                            const std::function<void(size_t)> &work) {
  std::atomic<size_t> next{0};
  auto run = [&] {
    for (size_t number; (number = next++) < count;)
      work(number);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(threads, count); ++i)
    others.emplace_back(run);
  run();
  for (std::thread &thread : others)
    thread.join();
}

static plan::SearchSpace spaceOf(const PlanningOptions &options,
                                 const simulate::Cluster &cluster,
                                 const ModelFacts &facts) {
  plan::SearchSpace space;
  space.base = options.plan;
  space.base.memory.limit = 0; // the search compares itself
  space.given = options.given;
  space.given.erase("--memory-limit");
  space.ranks = options.gpus;
  space.devicesPerNode = cluster.sharedBy(space.ranks).devicesPerNode;
  space.layers = facts.layers;
  space.sequence = facts.sequence;
  space.hasExperts = facts.hasExperts;
  return space;
}

Planner::Planner(const PlanningOptions &options,
                 const simulate::Cluster &cluster, const ModelFacts &facts)
    : options(options), cluster(cluster), facts(facts),
      space(spaceOf(options, cluster, facts)),
      memoryLimit(options.plan.memory.limit
                      ? static_cast<double>(options.plan.memory.limit)
                      : cluster.sharedBy(options.gpus).device.memoryBytes),
      threads(std::max(1u, options.threads
                               ? static_cast<unsigned>(options.threads)
                               : std::thread::hardware_concurrency())),
      families(memoryLimit,
               [this](const PlanOptions &plan) -> const Sample & {
                 return sampleFor(plan);
               }),
      best(std::numeric_limits<double>::infinity()) {}

//===----------------------------------------------------------------------===//
// Plans and their numbers
//===----------------------------------------------------------------------===//

size_t Planner::numberOf(const PlanOptions &plan) {
  auto [known, isNew] = numbers.try_emplace(plan::keyOf(plan), plans.size());
  if (isNew)
    plans.push_back({plan, {}, std::nullopt});
  return known->second;
}

/// Adds plans; if cost counts, fewer devices may be better.
void Planner::addPlans() {
  bool isCost = options.objective == "cost";
  for (int64_t ranks = options.gpus;; ranks /= 2) {
    space.ranks = ranks;
    const plan::FirstPlans first = plan::firstPlans(space);
    for (const PlanOptions &plan : first.plans)
      numberOf(plan);
    if (refusal.empty())
      refusal = first.problem;
    if (!isCost || ranks % 2 || space.given.count("--mesh") ||
        ranks * 8 <= options.gpus)
      break;
  }
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// An estimate where samples cannot be compiled: the plan itself may be.
static constexpr double kUnknown = 1e14;

/// Returns the cost of a plan that does not fit, more than anything that does.
static double costOfBytes(double bytes) { return 1e15 + bytes; }

double Planner::costOf(const PlannedStep &step) const {
  if (!step.of.problem.empty())
    return std::numeric_limits<double>::infinity();
  if (!step.fits(memoryLimit))
    return costOfBytes(static_cast<double>(step.of.bytes));
  if (options.objective == "memory")
    return static_cast<double>(step.of.bytes);
  return options.objective == "cost" ? step.deviceSeconds() : step.of.seconds;
}

void Planner::takeSamples() {
  std::vector<std::pair<Sample *, const PlanOptions *>> missing;
  for (const PlannedStep &step : plans) {
    auto [sample, isNew] = samples.try_emplace(sampleKey(step.plan, cluster));
    if (isNew)
      missing.push_back({&sample->second, &step.plan});
  }
  if (options.progress && !missing.empty())
    options.progress("compiling " + counted(missing.size(), "sample"));
  forEachNumber(missing.size(), threads, [&](size_t number) {
    auto [sample, plan] = missing[number];
    *sample = takeSample(sampled, *plan, cluster);
  });
}

/// Returns the sample of a plan; for plans that a search comes to later,
/// samples are taken when needed.
const Sample &Planner::sampleFor(const PlanOptions &plan) {
  auto [sample, isNew] = samples.try_emplace(sampleKey(plan, cluster));
  if (isNew)
    sample->second = takeSample(sampled, plan, cluster);
  return sample->second;
}

double Planner::objectiveOf(const PlanOptions &plan, const Estimate &of) const {
  const std::string &objective = options.objective;
  if (objective == "memory")
    return of.bytes;
  return objective == "cost"
             ? of.seconds * static_cast<double>(plan.mesh.ranks())
             : of.seconds;
}

/// Memory that a formula says is needed may be there after all, up to this.
static constexpr double kMemoryTolerance = 1.1;

/// Returns whether the search chose layers that recompute otherwise than the
/// rest.
bool Planner::hasChosenLayers(const PlanOptions &plan) const {
  return space.choosesLayers() && !plan.memory.layerRecompute.ranges.empty();
}

/// Returns whether the plan's estimate is what it would take; that of others is
/// what a plan would take that they lead to.
bool Planner::isAsEstimated(const PlannedStep &step) const {
  return step.estimate && !hasChosenLayers(step.plan) &&
         step.estimate->problem.empty() &&
         step.estimate->bytes <= memoryLimit * kMemoryTolerance;
}

/// Returns the estimate of a plan. If it needs too much memory, that is the
/// estimate of the best plan some of whose layers recompute more, if there is
/// one: it is found once this one is compiled.
double Planner::estimateOf(const PlannedStep &step) const {
  const Estimate &own = *step.estimate;
  if (!own.problem.empty())
    return kUnknown;
  if (isAsEstimated(step))
    return objectiveOf(step.plan, own);
  double least = costOfBytes(own.bytes);
  if (!space.choosesLayers() || options.objective == "memory")
    return least;
  for (RecomputePair pair : kRecomputePairs) {
    PlanOptions heavy = step.plan;
    heavy.memory.recompute = pair.heavy;
    auto found = numbers.find(plan::keyOf(heavy));
    if (step.plan.memory.recompute != pair.light || found == numbers.end())
      continue;
    const Estimate &more = *plans[found->second].estimate;
    if (!more.problem.empty() || more.bytes > memoryLimit)
      continue;
    double share = (own.bytes - memoryLimit) / (own.bytes - more.bytes);
    Estimate some = own;
    some.seconds += share * std::max(0.0, more.seconds - own.seconds);
    least = std::min(least, objectiveOf(step.plan, some));
  }
  return least;
}

/// Returns what the estimate of a plan should have been. 0: it says nothing
/// about it.
double Planner::exactOf(const PlannedStep &step) const {
  if (!step.of.problem.empty() || !isAsEstimated(step))
    return 0;
  return objectiveOf(step.plan,
                     {"", step.of.seconds, static_cast<double>(step.of.bytes)});
}

void Planner::estimateAll() {
  takeSamples();
  for (PlannedStep &step : plans)
    if (!step.estimate)
      step.estimate = estimate(samples.at(sampleKey(step.plan, cluster)),
                               step.plan, facts.layers);
}

/// Returns a guess by a formula, whose errors are alike for plans with the same
/// pipeline.
plan::Guess Planner::guessOf(size_t number) {
  const PlannedStep &step = plans[number];
  double cost = estimateOf(step);
  if (cost >= kUnknown)
    return {number, cost};
  const PlanOptions &plan = step.plan;
  std::tuple pipeline(plan.mesh.sizeOf(MeshAxis::Pipeline),
                      plan.stages.virtualStages, plan.stages.schedule);
  return {number, cost,
          pipelines.try_emplace(pipeline, pipelines.size()).first->second};
}

/// Returns a guess of a plan next to one that was compiled.
plan::Guess Planner::guessFrom(const PlannedStep &from, size_t number) {
  const PlannedStep &step = plans[number];
  if (!step.estimate->problem.empty() || !from.estimate->problem.empty())
    return {number, 0};
  if (!hasChosenLayers(step.plan))
    return guessOf(number);
  // The change does this to estimates without such layers.
  double bytes = static_cast<double>(from.of.bytes) * step.estimate->bytes /
                 from.estimate->bytes;
  if (from.fits(memoryLimit) && bytes > memoryLimit * kMemoryTolerance)
    return {number, costOfBytes(bytes)};
  return {number,
          objectiveOf(step.plan, {"",
                                  from.of.seconds * step.estimate->seconds /
                                      from.estimate->seconds,
                                  bytes})};
}

std::vector<plan::Outcome>
Planner::evaluate(const std::vector<size_t> &wanted) {
  if (options.progress)
    options.progress("compiling " + counted(wanted.size(), "plan"));
  forEachNumber(wanted.size(), threads, [&](size_t i) {
    PlannedStep &step = plans[wanted[i]];
    step.of =
        evaluatePlan(options.model, step.plan, cluster, Verification::None);
  });
  std::vector<plan::Outcome> outcomes;
  for (size_t number : wanted) {
    const PlannedStep &step = plans[number];
    outcomes.push_back({costOf(step), exactOf(step), step.fits(memoryLimit)});
    best = std::min(best, outcomes.back().cost);
  }
  return outcomes;
}

std::vector<plan::Guess> Planner::neighbours(size_t number) {
  std::vector<size_t> found;
  const PlannedStep from = plans[number]; // numberOf adds to them
  for (const PlanOptions &plan :
       plan::plansNextTo(space, from.plan, from.of.stages))
    found.push_back(numberOf(plan));
  if (std::optional<PlanOptions> fewer = families.oneFewer(from.plan);
      fewer && space.choosesLayers())
    found.push_back(numberOf(*fewer));
  estimateAll();
  std::vector<plan::Guess> guesses;
  for (size_t next : found)
    guesses.push_back(guessFrom(plans[number], next));
  return guesses;
}

/// Plans of which more or fewer layers recompute. A plan that does not fit, and
/// is not faster than the best, leads to none that is.
std::vector<plan::Guess> Planner::followers(size_t number) {
  const PlannedStep from = plans[number]; // numberOf adds to them
  auto costOfSeconds = [&](const PlanOptions &plan, double seconds) {
    return objectiveOf(plan, {"", seconds, 0});
  };
  if (!space.choosesLayers() || options.objective == "memory" ||
      !from.of.problem.empty() ||
      (!from.fits(memoryLimit) &&
       costOfSeconds(from.plan, from.of.seconds) >= best))
    return {};
  std::vector<plan::Guess> guesses;
  for (const auto &[plan, seconds] : families.add(from.plan, from.of))
    guesses.push_back({numberOf(plan), costOfSeconds(plan, seconds)});
  return guesses;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

llvm::Expected<PlanningResult> Planner::run() {
  addPlans();
  if (plans.empty()) {
    PlanningResult nothing;
    nothing.problem = refusal;
    return nothing;
  }
  if (llvm::Error error = sampled.make(options.model))
    return error;
  estimateAll();
  size_t first = plans.size();
  plan::SearchProblem problem;
  for (size_t number = 0; number < first; ++number)
    problem.guesses.push_back(guessOf(number));
  problem.evaluate = [&](const std::vector<size_t> &wanted) {
    return evaluate(wanted);
  };
  problem.neighbours = [&](size_t number) { return neighbours(number); };
  problem.followers = [&](size_t number) { return followers(number); };
  plan::SearchLimits limits;
  limits.evaluations = static_cast<size_t>(options.evaluations);
  limits.batch = threads;
  limits.shown = static_cast<size_t>(options.plans);
  PlanningResult result = resultOf(plan::search(problem, limits));
  verifyBest(result);
  result.first = first;
  result.sampled = samples.size();
  return result;
}

/// Layers that recompute otherwise than the rest. Of plans that are as fast, as
/// a stage waits for a slower one, the one with fewest of them is better.
static int64_t ownLayers(const PlanOptions &plan) {
  int64_t count = 0;
  for (const LayerRange &range : plan.memory.layerRecompute.ranges)
    count += range.last - range.first + 1;
  return count;
}

/// Returns whether cuts that the search chose are those that the compiler
/// chooses, and buckets of another size are the same buckets.
static bool areOneProgram(const PlannedStep &a, const PlannedStep &b) {
  PlanOptions other = b.plan;
  other.stages.layers = a.plan.stages.layers;
  other.communication.bucketBytes = a.plan.communication.bucketBytes;
  return !a.of.chunks.empty() && a.of.chunks == b.of.chunks &&
         a.of.seconds == b.of.seconds && a.of.bytes == b.of.bytes &&
         plan::keyOf(a.plan) == plan::keyOf(other);
}

/// Drops copies from sorted steps.
static void dropCopies(std::vector<PlannedStep> &steps) {
  std::vector<PlannedStep> kept;
  for (PlannedStep &step : steps)
    if (llvm::none_of(kept, [&](const PlannedStep &other) {
          return areOneProgram(other, step);
        }))
      kept.push_back(std::move(step));
  steps = std::move(kept);
}

/// Drops plans before the first one that the verifier has nothing against.
void Planner::verifyBest(PlanningResult &result) const {
  while (!result.steps.empty()) {
    const PlannedStep &best = result.steps.front();
    std::string problem = evaluatePlan(options.model, best.plan, cluster,
                                       Verification::AfterEachPass)
                              .problem;
    if (problem.empty())
      return;
    result.fitting -= best.fits(memoryLimit);
    result.problem = problem;
    result.steps.erase(result.steps.begin());
  }
}

PlanningResult Planner::resultOf(const plan::SearchResult &found) {
  PlanningResult result;
  result.isComplete = found.isComplete;
  result.memoryLimit = memoryLimit;
  for (const auto &[number, cost] : found.evaluated) {
    const PlannedStep &step = plans[number];
    if (!step.of.problem.empty()) {
      result.problem = step.of.problem;
      continue;
    }
    result.steps.push_back(step);
    if (hasChosenLayers(step.plan))
      result.steps.back().estimate.reset();
    else if (step.estimate && step.estimate->problem.empty())
      result.largestError =
          std::max(result.largestError,
                   std::abs(step.estimate->seconds / step.of.seconds - 1));
  }
  if (result.problem.empty())
    for (const PlannedStep &step : plans)
      if (step.estimate && !step.estimate->problem.empty())
        result.problem = step.estimate->problem;
  llvm::stable_sort(
      result.steps, [&](const PlannedStep &a, const PlannedStep &b) {
        return std::tuple(costOf(a), ownLayers(a.plan), a.plan.stages.layers) <
               std::tuple(costOf(b), ownLayers(b.plan), b.plan.stages.layers);
      });
  dropCopies(result.steps);
  result.fitting = llvm::count_if(result.steps, [&](const PlannedStep &step) {
    return step.fits(memoryLimit);
  });
  return result;
}
