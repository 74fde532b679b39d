//===- OwnersReport.cpp - a parameter server over dp, in numbers ----------===//

#include "tools/tessera/report/OwnersReport.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera;

void OwnersReport::readTensor(const json::Object &tensor) {
  StringRef role = tensor.getString("role").value_or("");
  int64_t elements = 1;
  for (const json::Value &size : *tensor.getArray("local_shape"))
    elements *= size.getAsInteger().value_or(0);
  int64_t element = tensor.getString("dtype") == "f64"    ? 8
                    : tensor.getString("dtype") == "bf16" ? 2
                                                          : 4;
  if (role == "parameter")
    parameterBytes += elements * element;
  if (role != "moment1" && role != "moment2")
    return;
  stateBytes += elements * element;
  for (auto [owner, offset] : zip(owners, *tensor.getArray("offsets")))
    if (offset.getAsInteger().value_or(-1) >= 0) {
      owner.stateBytes += elements * element;
      owner.tensors += role == "moment1";
      owner.elements += role == "moment1" ? elements : 0;
    }
}

bool OwnersReport::read(const json::Object &root) {
  const json::Object *programs = root.getObject("pipeline");
  if (!programs || !programs->getBoolean("owners").value_or(false))
    return false;
  StringRef axis = *programs->getString("axis");
  const json::Array &arenas = *root.getObject("arena")->getArray("stages");
  const json::Array &reports = *root.getObject("report")->getArray("stages");
  owners.resize(reports.size());
  for (auto [owner, arena, report] : zip(owners, arenas, reports)) {
    owner.arenaBytes = *arena.getAsObject()->getInteger("bytes");
    const json::Object *traffic =
        report.getAsObject()->getObject("communication_per_rank");
    if (const json::Object *own = traffic->getObject(axis)) {
      owner.sent = own->getInteger("sent").value_or(0);
      owner.received = own->getInteger("received").value_or(0);
    }
  }
  for (const json::Value &tensor : *root.getArray("tensors"))
    readTensor(*tensor.getAsObject());
  busiest = max_element(owners,
                        [](const Owner &a, const Owner &b) {
                          return a.sent + a.received < b.sent + b.received;
                        }) -
            owners.begin();
  return true;
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
