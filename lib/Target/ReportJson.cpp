//===- ReportJson.cpp - a program's numbers as JSON -----------------------===//

#include "ReportJson.h"

namespace json = llvm::json;

json::Object tessera::opJson(const CallRecord &call) {
  json::Object op{{"op", call.op}, {"name", call.name}, {"phase", call.phase}};
  if (call.layer >= 0)
    op["layer"] = call.layer;
  if (call.times != 1)
    op["times"] = call.times;
  if (call.flops != 0)
    op["flops"] = call.flops;
  if (!call.kernel.empty())
    op["kernel"] = call.kernel;
  if (!call.axes.empty()) {
    op["axes"] = json::Array(call.axes);
    op["bytes"] = call.bytes;
    op["reason"] = call.reason;
  }
  if (call.isAsync) {
    op["overlap"] =
        json::Object{{"ops", call.besideOps}, {"flops", call.besideFlops}};
  }
  return op;
}

json::Object tessera::reportJson(const ProgramReport &report, int64_t ranks) {
  json::Object communication;
  for (const auto &[axes, traffic] : report.traffic) {
    json::Object numbers{{"calls", traffic.calls},
                         {"elements", traffic.elements},
                         {"bytes", traffic.bytes},
                         {"ring_bytes_sent", traffic.ringBytes}};
    if (traffic.sent || traffic.received) {
      numbers["sent"] = traffic.sent;
      numbers["received"] = traffic.received;
    }
    communication[axes] = std::move(numbers);
  }
  return json::Object{
      {"parameters", report.parameters},
      {"parameters_per_rank", report.parametersPerRank},
      {"tokens_per_step", report.tokens},
      {"flops_per_rank", json::Object{{"forward", report.forwardFlops},
                                      {"backward", report.backwardFlops},
                                      {"recompute", report.recomputeFlops},
                                      {"optimizer", report.optimizerFlops}}},
      {"flops", report.flops() * ranks},
      {"communication_per_rank", std::move(communication)},
      {"kernels", report.kernels},
      {"launches", report.launches},
      {"gemms", report.gemms},
      {"causal_work", json::Array(report.causalWork)}};
}
