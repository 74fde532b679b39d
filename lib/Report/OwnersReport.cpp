//===- OwnersReport.cpp - a parameter server over dp, in numbers ----------===//

#include "tessera/Report/OwnersReport.h"
#include "tessera/Text/Table.h"
#include "tessera/Text/TextWrap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera;

void OwnersReport::addTensor(const program::Tensor &tensor) {
  int64_t bytes = tensor.bytesOfRank();
  if (tensor.role == "parameter")
    parameterBytes += bytes;
  if (tensor.role != "moment1" && tensor.role != "moment2")
    return;
  stateBytes += bytes;
  bool isFirst = tensor.role == "moment1";
  for (auto [owner, offset] : zip(owners, tensor.offsets))
    if (offset >= 0) {
      owner.stateBytes += bytes;
      owner.tensors += isFirst;
      owner.elements += isFirst ? tensor.elementsOfRank() : 0;
    }
}

std::optional<OwnersReport> OwnersReport::of(const program::Program &program) {
  if (!program.pipeline || !program.pipeline->hasOwners)
    return std::nullopt;
  OwnersReport report;
  report.owners.resize(program.totals.stages.size());
  for (auto [owner, arena, totals] :
       zip(report.owners, program.arena.stages, program.totals.stages)) {
    owner.arenaBytes = arena.bytes;
    auto traffic = totals.traffic.find(program.pipeline->axis);
    if (traffic != totals.traffic.end()) {
      owner.sent = traffic->second.sent;
      owner.received = traffic->second.received;
    }
  }
  for (const program::Tensor &tensor : program.tensors)
    report.addTensor(tensor);
  report.busiest =
      max_element(report.owners,
                  [](const Owner &a, const Owner &b) {
                    return a.sent + a.received < b.sent + b.received;
                  }) -
      report.owners.begin();
  return report;
}

/// A gradient is received n - 1 times by its owner, a parameter once by each of
/// the others. Of positions that no sequence has there is no gradient to send.
int64_t OwnersReport::ringBytes() const {
  int64_t ranks = owners.size(), received = 0;
  for (const Owner &owner : owners)
    received += owner.received;
  int64_t gradientBytes = received / (ranks - 1) - parameterBytes;
  return 2 * (ranks - 1) * gradientBytes / ranks;
}

std::string OwnersReport::text(size_t width) const {
  const Owner &most = owners[busiest];
  std::string text = formatv(
      "parameter server: each parameter is updated by one of {0} ranks of dp; "
      "per step, of gradients and parameters",
      owners.size());
  Table table({"rank of dp", "owns", "parameters", "optimizer", "memory",
               "bytes sent", "bytes received"});
  table.mayLeaveOut({"owns", "memory"});
  for (auto [number, owner] : enumerate(owners))
    table.add({std::to_string(number), std::to_string(owner.tensors),
               std::to_string(owner.elements), bytesText(owner.stateBytes),
               bytesText(owner.arenaBytes), std::to_string(owner.sent),
               std::to_string(owner.received)});
  table.add({"all-reduce", "-", "-", bytesText(stateBytes), "-",
             std::to_string(ringBytes()), std::to_string(ringBytes())});
  double factor = static_cast<double>(std::max(most.sent, most.received)) /
                  static_cast<double>(std::max<int64_t>(ringBytes(), 1));
  std::string comparison =
      formatv("an all-reduce (each rank, last line) is the default: the "
              "busiest rank, {0}, moves {1:f2} times as much, and nothing "
              "runs beside the backward pass",
              busiest, factor);
  return wrapText(text, width, 2) + "\n" + table.str(width) +
         wrapText(comparison, width, 2) + "\n";
}

json::Object OwnersReport::json() const {
  json::Array list;
  for (const Owner &owner : owners)
    list.push_back(json::Object{{"tensors", owner.tensors},
                                {"parameters", owner.elements},
                                {"optimizer_state", owner.stateBytes},
                                {"memory", owner.arenaBytes},
                                {"sent", owner.sent},
                                {"received", owner.received}});
  return json::Object{
      {"owners", std::move(list)},
      {"busiest", busiest},
      {"all_reduce", json::Object{{"sent", ringBytes()},
                                  {"received", ringBytes()},
                                  {"optimizer_state", stateBytes}}}};
}
