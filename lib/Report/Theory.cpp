//===- Theory.cpp - collectives against published formulas ----------------===//

#include "lib/Report/Theory.h"
#include "tessera/Options/Counted.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tessera;

static constexpr const char *kMegatron =
    "Narayanan et al. 2021, section 3.2; Shoeybi et al. 2019, section 3";
static constexpr const char *kSequence = "Korthikanti et al. 2022, section 4.2";
static constexpr const char *kPipeline = "Narayanan et al. 2021, section 3.2";
static constexpr const char *kZero = "Rajbhandari et al. 2020, section 7";
static constexpr const char *kHybrid = "Zhao et al. 2023, section 3.2.2";

namespace {

class Theorist {
public:
  explicit Theorist(const Report &report);

  /// Returns whether formulas are about such a program.
  bool holds() const;
  std::vector<Theory> all();

private:
  void addLayers();
  std::string dataAxes() const;
  void addReplicas();
  void addData();
  void addBoundaries();
  Theory layers(const char *collective, const char *phase,
                const char *scheme) const;
  Theory data(Theory::Kind kind, const char *collective, const char *phase,
              const char *scheme) const;
  bool isAbout(const Theory &theory, const CollectiveGroup &group) const;
  bool has(Theory::Kind kind, const char *collective, const char *axis,
           const char *phase) const;
  int64_t sizeOf(StringRef axis) const { return program.mesh.sizeOf(axis); }
  int64_t batchRanks() const { return sizeOf("dp") * sizeOf(kReplicaAxis); }
  int64_t parameters() const;
  std::string activationSizes() const;

  const Report &report;
  const program::Program &program;
  int64_t elementBytes, microBatches;
  int64_t batch, sequence; ///< Those of a rank and micro-batch.
  std::vector<Theory> list;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Precision precision) {
  switch (precision) {
  case Precision::BF16:
    return 2;
  case Precision::F64:
    return 8;
  case Precision::F32:
    break;
  }
  return 4;
}

Theorist::Theorist(const Report &report)
    : report(report), program(report.program),
      elementBytes(bytesOf(
          fromName<Precision>(program.precision).value_or(Precision::F32))),
      microBatches(program.model.microBatches),
      batch(program.model.batch / (microBatches * batchRanks())),
      sequence(program.model.sequence / sizeOf("cp")) {}

bool Theorist::holds() const {
  bool isDense = !report.hasExperts && !program.model.target;
  bool trainsAll = report.trainedParameters == report.parameters;
  bool divides = program.model.batch % (microBatches * batchRanks()) == 0 &&
                 program.model.sequence % (sizeOf("cp") * sizeOf("tp")) == 0;
  return isDense && trainsAll && divides && !program.generates() &&
         !program.encodes() && !report.owners && sizeOf("ep") == 1;
}

/// Elements of the parameters that a rank computes with, however ZeRO splits
/// them while they rest.
int64_t Theorist::parameters() const {
  int64_t all = 0;
  for (const TensorGroup &group : report.tensors.groups) {
    if (group.role != "parameter")
      continue;
    std::vector<int64_t> local = group.shape;
    for (const TensorCut &cut : group.cuts)
      for (const std::string &axis : cut.axes)
        if (!is_contained(kZeroAxes, axis))
          local[cut.dim] = divideCeil(local[cut.dim], sizeOf(axis));
    int64_t elements = std::max<int64_t>(group.layers.size(), 1);
    for (int64_t size : local)
      elements *= size;
    all += elements;
  }
  return all;
}

std::string Theorist::activationSizes() const {
  return formatv("b {0}, s {1}, h {2}, {3} bytes an element; {4}, {5}", batch,
                 sequence, report.hidden, elementBytes,
                 counted(program.model.layers, "layer"),
                 counted(microBatches, "micro-batch"));
}

//===----------------------------------------------------------------------===//
// Finding the collectives that a formula is about
//===----------------------------------------------------------------------===//

/// Returns whether a collective is over one of the axes, "dp" or "cp,dp".
static bool isOver(const CollectiveGroup &group, StringRef axes) {
  return any_of(split(axes, ','),
                [&](StringRef axis) { return is_contained(group.axes, axis); });
}

bool Theorist::isAbout(const Theory &theory,
                       const CollectiveGroup &group) const {
  StringRef reason = group.reason;
  if (group.kind != theory.collective || nameOf(group.phase) != theory.phase)
    return false;
  switch (theory.kind) {
  case Theory::Layers: // and none of parameters
    return group.axesText() == theory.axis && !group.isBucket &&
           !group.numbers.empty() && !reason.starts_with("gradient");
  case Theory::Gradients:
    return isOver(group, theory.axis) && reason.starts_with("gradient");
  case Theory::Parameters:
    return isOver(group, theory.axis) && reason == "shards of a parameter";
  case Theory::Boundaries:
    return group.axesText() == theory.axis &&
           (reason == "activation for a later stage" ||
            reason == "gradient for an earlier stage");
  }
  llvm_unreachable("a kind is missing");
}

bool Theorist::has(Theory::Kind kind, const char *collective, const char *axis,
                   const char *phase) const {
  Theory theory;
  theory.kind = kind;
  theory.collective = collective;
  theory.axis = axis;
  theory.phase = phase;
  return any_of(report.collectives, [&](const CollectiveGroup &group) {
    return isAbout(theory, group);
  });
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// Counts two of a kind for each layer and micro-batch, each of a whole
/// activation.
Theory Theorist::layers(const char *collective, const char *phase,
                        const char *scheme) const {
  Theory theory;
  theory.kind = Theory::Layers;
  theory.collective = collective;
  theory.axis = "tp";
  theory.phase = phase;
  theory.scheme = scheme;
  theory.formula = "2 a layer and micro-batch, each of b s h";
  theory.sizes = activationSizes();
  theory.calls = 2 * program.model.layers * microBatches;
  theory.bytes =
      *theory.calls * batch * sequence * report.hidden * elementBytes;
  return theory;
}

void Theorist::addLayers() {
  if (sizeOf("tp") == 1 || report.hidden == 0)
    return;
  if (!has(Theory::Layers, "reduce_scatter", "tp", "forward")) {
    for (const char *phase : {"forward", "backward"}) {
      list.push_back(layers("all_reduce", phase, "tensor parallelism"));
      list.back().source = kMegatron;
    }
    return;
  }
  for (const char *phase : {"forward", "backward"})
    for (const char *collective : {"all_gather", "reduce_scatter"})
      list.push_back(layers(collective, phase, "sequence parallelism"));
  // Backward gathers again what forward kept in slices.
  list.push_back(layers("all_gather", "recompute", "sequence parallelism"));
  for (Theory &theory : list)
    theory.source = kSequence;
}

/// Counts, once a step, a parameter's element for each.
Theory Theorist::data(Theory::Kind kind, const char *collective,
                      const char *phase, const char *scheme) const {
  Theory theory;
  theory.kind = kind;
  theory.collective = collective;
  theory.axis = dataAxes();
  theory.phase = phase;
  theory.scheme = scheme;
  int64_t count = parameters();
  theory.formula = "an element for each parameter of the rank";
  theory.sizes =
      formatv("{0} parameters, {1} bytes an element", count, elementBytes);
  theory.source = kZero;
  theory.bytes = count * elementBytes;
  return theory;
}

/// Returns the axes of more than one rank that ZeRO may split parameters over,
/// as CollectiveGroup::axesText names them: "cp,dp".
std::string Theorist::dataAxes() const {
  std::vector<std::string> axes;
  for (const char *axis : kZeroAxes)
    if (sizeOf(axis) > 1)
      axes.push_back(axis);
  llvm::sort(axes);
  return join(axes, ",");
}

/// Gradients are summed between the groups that ZeRO splits them over.
void Theorist::addReplicas() {
  if (sizeOf(kReplicaAxis) == 1)
    return;
  Theory theory =
      data(Theory::Gradients, "all_reduce", "backward", "hybrid sharding");
  theory.axis = kReplicaAxis;
  theory.source = kHybrid;
  int64_t shards = 1;
  for (const char *axis : kZeroAxes)
    shards *= sizeOf(axis);
  theory.formula = "an element for each parameter of the rank's shard";
  theory.sizes += ", " + counted(shards, "shard");
  theory.bytes /= shards;
  list.push_back(theory);
}

void Theorist::addData() {
  std::string axes = dataAxes();
  if (axes.empty() || report.pipeline)
    return; // Stages share parameters.
  if (!has(Theory::Parameters, "all_gather", axes.c_str(), "forward")) {
    if (sizeOf("cp") == 1)
      list.push_back(data(Theory::Gradients, "all_reduce", "backward",
                          "data parallelism"));
    return;
  }
  if (microBatches > 1) // The paper says nothing of them.
    return;
  list.push_back(data(Theory::Parameters, "all_gather", "forward", "ZeRO"));
  list.push_back(data(Theory::Gradients, "reduce_scatter", "backward", "ZeRO"));
  if (has(Theory::Parameters, "all_gather", axes.c_str(), "backward"))
    list.push_back(
        data(Theory::Parameters, "all_gather", "backward", "ZeRO stage 3"));
  addReplicas();
}

/// With sequence parallelism a message is a slice, of which the papers say
/// nothing.
void Theorist::addBoundaries() {
  if (!report.pipeline || report.pipeline->isInTurn() || report.hidden == 0 ||
      has(Theory::Layers, "reduce_scatter", "tp", "forward"))
    return;
  const pipeline::Shape &shape = report.pipeline->schedule.shape;
  for (const char *phase : {"forward", "backward"})
    for (const char *collective : {"send", "receive"}) {
      Theory theory;
      theory.kind = Theory::Boundaries;
      theory.collective = collective;
      theory.axis = "pp";
      theory.phase = phase;
      theory.scheme = "pipeline parallelism";
      theory.formula = "1 a boundary of chunks and micro-batch, of b s h";
      theory.sizes =
          activationSizes() + ", " + counted(shape.chunks(), "chunk");
      theory.source = kPipeline;
      theory.calls = (shape.chunks() - 1) * microBatches;
      theory.bytes =
          *theory.calls * batch * sequence * report.hidden * elementBytes;
      list.push_back(theory);
    }
}

std::vector<Theory> Theorist::all() {
  addLayers();
  addData();
  addBoundaries();
  for (Theory &theory : list)
    for (const auto &[row, group] : enumerate(report.collectives))
      if (isAbout(theory, group)) {
        theory.ourCalls += group.calls;
        theory.ourBytes += group.bytesOfStep;
        theory.rows.push_back(row);
      }
  return std::move(list);
}

std::vector<Theory> tessera::theoryOf(const Report &report) {
  Theorist theorist(report);
  return theorist.holds() ? theorist.all() : std::vector<Theory>();
}

json::Object Theory::json() const {
  return json::Object{
      {"scheme", scheme},
      {"collective", collective},
      {"axis", axis},
      {"phase", phase},
      {"formula", formula},
      {"sizes", sizes},
      {"source", source},
      {"calls", calls ? json::Value(*calls) : json::Value(nullptr)},
      {"bytes", bytes},
      {"our_calls", ourCalls},
      {"our_bytes", ourBytes},
      {"equal", isEqual()}};
}
