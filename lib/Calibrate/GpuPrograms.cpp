//===- GpuPrograms.cpp - what calibrate runs on GPUs ----------------------===//
// A GPU needs larger products than a CPU before it reaches its peak. Experts
// are not among the programs that compute: a cluster of GPUs has one rate for
// all products.
//===----------------------------------------------------------------------===//

#include "lib/Calibrate/GpuPrograms.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using Family = CalibrationFamily;
using Model = CalibrationModel;

static std::vector<Model> computedModels(bool isQuick) {
  if (isQuick)
    return {{Family::Llama, 128, 320, 2, 256, 64, 2}};
  return {
      {Family::Gpt2, 512, 2048, 8, 1024, 256, 2},
      {Family::Gpt2, 768, 3072, 12, 50304, 512, 4}, // rows of a vocabulary
      {Family::Llama, 1024, 2816, 8, 2048, 512, 4},
      {Family::Gpt2, 1536, 6144, 12, 4096, 1024, 4},
      {Family::Llama, 2048, 5632, 16, 4096, 1024, 8},
      {Family::Llama, 2048, 4096, 16, 1024, 8192, 1}, // long sequences
      {Family::Gpt2, 3072, 8192, 24, 1024, 128, 1},   // few rows
      {Family::Llama, 4096, 6144, 32, 1024, 2048, 4},
  };
}

static std::vector<Model> linkModels(bool isQuick) {
  if (isQuick)
    return {{Family::Gpt2, 128, 512, 2, 256, 64, 2}};
  return {{Family::Gpt2, 256, 1024, 8, 512, 64, 2},
          {Family::Gpt2, 1024, 4096, 16, 2048, 512, 2},
          {Family::Gpt2, 2048, 16384, 16, 1024, 1024, 4}};
}

static std::vector<Model> exchangeModels(bool isQuick) {
  if (isQuick)
    return {{Family::Mixtral, 128, 192, 2, 256, 64, 2}};
  return {{Family::Mixtral, 512, 1024, 8, 1024, 256, 4, 1, 8},
          {Family::Mixtral, 2048, 2048, 16, 1024, 1024, 4, 1, 8}};
}

/// A generous guess of what a rank needs: parameters with gradient, moments and
/// a copy in bf16; activations and logits of a layer, forward and backward.
static int64_t bytesOf(const Model &model) {
  int64_t experts = model.family == Family::Mixtral ? model.experts : 1;
  int64_t parameters = model.layers * model.hidden *
                           (4 * model.hidden + 3 * experts * model.inner) +
                       2 * model.vocabulary * model.hidden;
  int64_t tokens = model.batch * model.sequence;
  int64_t activations =
      tokens *
      (24 * model.layers * (model.hidden + model.inner) + 4 * model.vocabulary);
  return 18 * parameters + 4 * activations;
}

/// Two, and the largest power of two that there are GPUs for, at most eight:
/// heads and widths can be split by it.
static std::vector<int64_t> rankCounts(const GpuMachine &machine,
                                       bool isQuick) {
  std::vector<int64_t> counts;
  if (machine.count >= 2)
    counts.push_back(2);
  int64_t most = 2;
  while (2 * most <= std::min<int64_t>(machine.count, 8))
    most *= 2;
  if (most > 2 && !isQuick)
    counts.push_back(most);
  return counts;
}

namespace {

class ProgramList {
public:
  explicit ProgramList(const GpuMachine &machine) : machine(machine) {}

  void addComputing(const Model &model) {
    for (Precision precision : {Precision::F32, Precision::BF16})
      add(model, precision, MeshAxis::Data, 1);
  }
  void addLinks(Model model, int64_t ranks);
  void addExchange(const Model &model, int64_t ranks) {
    add(model, Precision::BF16, MeshAxis::Expert, ranks);
  }
  std::vector<CalibrationProgram> take() { return std::move(programs); }

private:
  /// Adds a program; returns null if a GPU has too little memory.
  PlanOptions *add(const Model &model, Precision precision, MeshAxis axis,
                   int64_t ranks);

  const GpuMachine &machine;
  std::vector<CalibrationProgram> programs;
};

} // namespace

PlanOptions *ProgramList::add(const Model &model, Precision precision,
                              MeshAxis axis, int64_t ranks) {
  if (bytesOf(model) > machine.memoryBytes / 10 * 8)
    return nullptr;
  CalibrationProgram &program =
      programs.emplace_back(programOf(model, precision, axis, ranks));
  program.plan.device.target = {DeviceKind::Cuda, machine.architecture};
  program.isForLink = ranks > 1;
  program.communicator = ranks > 1 ? machine.communicator : "threads";
  return &program.plan;
}

void ProgramList::addLinks(Model model, int64_t ranks) {
  add(model, Precision::BF16, MeshAxis::Tensor, ranks);
  if (PlanOptions *plan = add(model, Precision::BF16, MeshAxis::Data, ranks))
    plan->communication.bucketBytes = 0;
  if (PlanOptions *plan = add(model, Precision::BF16, MeshAxis::Data, ranks))
    plan->strategies.zero = ZeroStage::Parameters;
  model.layers = ranks;
  if (PlanOptions *plan =
          add(model, Precision::BF16, MeshAxis::Pipeline, ranks))
    plan->sizes.microBatches = 2;
}

std::vector<CalibrationProgram> tessera::gpuPrograms(const GpuMachine &machine,
                                                     bool isQuick) {
  ProgramList list(machine);
  for (const Model &model : computedModels(isQuick))
    list.addComputing(model);
  for (int64_t ranks : rankCounts(machine, isQuick)) {
    for (const Model &model : linkModels(isQuick))
      list.addLinks(model, ranks);
    for (const Model &model : exchangeModels(isQuick))
      list.addExchange(model, ranks);
  }
  return list.take();
}
