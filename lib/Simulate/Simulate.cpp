//===- Simulate.cpp - refuses what no simulation can time -----------------===//

#include "tessera/Simulate/Simulate.h"
#include "lib/Simulate/Engine.h"
#include "lib/Simulate/TransferRules.h"
#include "tessera/Options/Counted.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace tessera;
using namespace tessera::simulate;
using llvm::Error;
using llvm::Expected;

const char *tessera::simulate::nameOf(Activity activity) {
  constexpr const char *names[kActivities] = {
      "products", "attention", "kernels", "collectives", "stages"};
  return names[static_cast<size_t>(activity)];
}

Activity tessera::simulate::activityOf(const Program &program,
                                       const Call &call) {
  switch (call.kind) {
  case CallKind::Product:
    return Activity::Products;
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return Activity::Attention;
  case CallKind::Kernel:
    return Activity::Kernels;
  case CallKind::Collective:
  case CallKind::Send:
  case CallKind::Receive:
  case CallKind::Wait:
    break;
  }
  return crossesStages(program, call) ? Activity::Stages
                                      : Activity::Collectives;
}

static Error checkKind(const Program &program, const Cluster &cluster) {
  bool isCpu = cluster.kind == DeviceKind::Cpu;
  if (isCpu != program.isCuda)
    return Error::success();
  return llvm::createStringError(llvm::formatv(
      "the program is for {0}, but the cluster '{1}' has {2}; {3}",
      program.isCuda ? "cuda" : "the cpu", cluster.name,
      isCpu ? "CPUs" : "GPUs",
      isCpu ? "compile it with --device cpu, or take a file of GPUs"
            : "compile it with --device cuda, or describe this machine with "
              "tessera calibrate"));
}

static std::string howToAdd(const Program &program, const Cluster &cluster) {
  if (!cluster.byThreads.empty())
    return "tessera calibrate measures f32 and bf16";
  return std::string("add [device.products.") +
         tessera::nameOf(program.precision) + "] with 'peak'";
}

/// Fails if calls like those of the program were not measured on a CPU.
static Error checkMeasured(const Program &program, const Cluster &cluster) {
  if (cluster.device.measured.empty())
    return Error::success();
  for (size_t stage = 0; stage < program.stages.size(); ++stage)
    for (const Call &call : program.stages[stage].calls)
      if (!std::isfinite(
              secondsOf(call, program, static_cast<int64_t>(stage), cluster)))
        return llvm::createStringError(llvm::formatv(
            "the cluster '{0}' has no rate of '{1}' in {2}; measure the "
            "machine again with tessera calibrate",
            cluster.name, call.op, tessera::nameOf(program.precision)));
  return Error::success();
}

Expected<StepTimes> tessera::simulate::simulate(const Program &program,
                                                const Cluster &machines,
                                                bool keepSpans) {
  if (Error error = checkKind(program, machines))
    return error;
  const Cluster cluster = machines.sharedBy(program.ranks());
  if (program.ranks() > cluster.devices())
    return llvm::createStringError(
        llvm::formatv("the program has {0}, but the cluster '{1}' has {2} ({3} "
                      "of {4}); use a "
                      "smaller mesh or raise 'nodes.count'",
                      counted(program.ranks(), "rank"), cluster.name,
                      counted(cluster.devices(), "device"),
                      counted(cluster.nodes, "node"), cluster.devicesPerNode));
  if (!cluster.device.products.count(program.precision))
    return llvm::createStringError(
        llvm::formatv("the cluster '{0}' says nothing of products in {1}; "
                      "{2}",
                      cluster.name, tessera::nameOf(program.precision),
                      howToAdd(program, cluster)));
  if (Error error = checkMeasured(program, cluster))
    return error;
  return runEngine(program, cluster, keepSpans);
}
