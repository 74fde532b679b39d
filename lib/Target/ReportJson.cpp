//===- ReportJson.cpp - a program's numbers as JSON -----------------------===//

#include "lib/Target/ReportJson.h"

using namespace tessera;
using llvm::ArrayRef;
namespace json = llvm::json;

/// Keys are in order, as in a json::Object, which would be slower by far.
static void writeOp(json::OStream &out, const CallRecord &call,
                    std::optional<int64_t> stage) {
  if (!call.axes.empty())
    out.attribute("axes", json::Array(call.axes));
  if (call.bytes != 0 || !call.axes.empty())
    out.attribute("bytes", call.bytes);
  if (!call.axes.empty())
    out.attribute("elements", call.elements);
  if (call.experts != 0)
    out.attribute("experts", call.experts);
  if (call.flops != 0)
    out.attribute("flops", call.flops);
  if (call.functions != 0)
    out.attribute("functions", call.functions);
  if (!call.kernel.empty())
    out.attribute("kernel", call.kernel);
  if (call.layer >= 0)
    out.attribute("layer", call.layer);
  out.attribute("name", call.name);
  out.attribute("op", call.op);
  if (call.peer)
    out.attribute("peer", *call.peer);
  out.attribute("phase", nn::stringifyPhase(call.phase));
  if (!call.axes.empty())
    out.attribute("reason", call.reason);
  if (call.resultBytes != 0)
    out.attribute("result_bytes", call.resultBytes);
  if (!call.shape.empty())
    out.attribute("shape", json::Array(call.shape));
  if (stage)
    out.attribute("stage", *stage);
  if (call.tensors != 1)
    out.attribute("tensors", call.tensors);
  if (call.times != 1)
    out.attribute("times", call.times);
  if (!call.transposed.empty())
    out.attribute("transposed", call.transposed);
  if (call.wait)
    out.attribute("wait", call.wait);
}

std::string tessera::opsJson(ArrayRef<CallRecord> calls,
                             std::optional<int64_t> stage) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const CallRecord &call : calls) {
    if (!text.empty())
      stream << ",";
    json::OStream out(stream);
    out.object([&] { writeOp(out, call, stage); });
  }
  return text;
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
