//===- Report.cpp - what an artifact's metadata says of its program -------===//

#include "tools/tessera/report/Report.h"
#include "tools/tessera/report/Table.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

std::string CollectiveGroup::where() const {
  if (layers.empty())
    return place.empty() ? "-" : place;
  std::string range = "h." + std::to_string(*layers.begin());
  if (layers.size() > 1)
    range += "-" + std::to_string(*layers.rbegin());
  return range + "." + place;
}

std::string CollectiveGroup::overlap() const {
  if (asyncCalls == 0)
    return "-";
  std::string text =
      formatv("{0} ops, {1} flops", besideOps, countText(besideFlops));
  return asyncCalls == calls ? text
                             : formatv("{0} calls: {1}", asyncCalls, text);
}

std::string Report::headline() const {
  return formatv("{0}, {1} ({2} rank{3}), {4} parameters, {5} per rank",
                 family.empty() ? "model" : family,
                 mesh.empty() ? "serial" : mesh, ranks, ranks == 1 ? "" : "s",
                 countText(static_cast<double>(parameters)),
                 bytesText(arenaBytes))
      .str();
}

std::string Report::collectivesText() const {
  if (collectives.empty())
    return "communication: none\n";
  Table table({"where", "phase", "axis", "collective", "calls", "bytes of one",
               "bytes per step", "computed beside", "reason"});
  int64_t total = 0;
  for (const CollectiveGroup &group : collectives) {
    table.add({group.where(), group.phase.empty() ? "-" : group.phase,
               group.axes, group.kind, std::to_string(group.calls),
               std::to_string(group.bytesOfCall),
               std::to_string(group.bytesOfStep()), group.overlap(),
               group.reason});
    total += group.bytesOfStep();
  }
  return formatv("communication per step and {0}: {1} in buffers\n{2}",
                 pipeline ? "a rank of each stage" : "rank", bytesText(total),
                 table.str())
      .str();
}

std::string Report::causalWorkText() const {
  std::string text;
  raw_string_ostream out(text);
  interleaveComma(causalWork, out, [&](double share) {
    out << formatv("{0:f1} %", 100 * share);
  });
  double most = *llvm::max_element(causalWork);
  out << formatv(" (the slowest has {0:f2} times the mean)",
                 most * static_cast<double>(causalWork.size()));
  return text;
}

std::string Report::text() const {
  std::string text;
  raw_string_ostream out(text);
  out << "model: " << family << ", " << layers << " layers, vocabulary "
      << vocabulary << "\n";
  out << "step: " << batch << " sequences of " << sequence << " tokens"
      << (target ? " and targets of " + std::to_string(target) : "") << " in "
      << microBatches << " micro-batch" << (microBatches == 1 ? "" : "es")
      << "\n";
  out << "mesh: " << (mesh.empty() ? "serial" : mesh) << ", " << ranks
      << " rank" << (ranks == 1 ? "" : "s") << " on " << device << " ("
      << processor << "), " << precision << "\n";
  out << "parameters: " << parameters << " (" << parametersOfRank
      << " on each rank)\n";
  if (flopsOfRank > 0)
    out << "flops per step: " << countText(flopsOfRank) << " on each rank, "
        << countText(flopsOfAll) << " over all ranks\n";
  if (!recompute.empty())
    out << "recomputed in backward: " << recompute << ", "
        << countText(recomputedFlops)
        << formatv(" of these flops ({0:f1} %)\n",
                   100 * recomputedFlops / std::max(flopsOfRank, 1.0));
  if (causalWork.size() > 1)
    out << "causal attention of the ranks of a sequence: " << causalWorkText()
        << "\n";
  out << "memory per rank: " << arenaBytes << " bytes ("
      << bytesText(arenaBytes) << ")\n";
  Table table({"kind", "bytes", ""});
  for (const auto &[kind, bytes] : memory)
    table.add({kind, std::to_string(bytes), bytesText(bytes)});
  if (!table.empty())
    out << table.str();
  if (pipeline)
    out << pipeline->text();
  if (owners)
    out << owners->text();
  out << collectivesText();
  return text;
}

json::Value Report::json() const {
  json::Object kinds;
  for (const auto &[kind, bytes] : memory)
    kinds[kind] = bytes;
  json::Array groups;
  for (const CollectiveGroup &g : collectives)
    groups.push_back(
        json::Object{{"collective", g.kind},
                     {"axes", g.axes},
                     {"where", g.where()},
                     {"layers", static_cast<int64_t>(g.layers.size())},
                     {"phase", g.phase},
                     {"reason", g.reason},
                     {"calls", g.calls},
                     {"bytes_of_call", g.bytesOfCall},
                     {"async_calls", g.asyncCalls},
                     {"ops_beside", g.besideOps},
                     {"flops_beside", g.besideFlops},
                     {"bytes_of_step", g.bytesOfStep()}});
  json::Object all{
      {"model", json::Object{{"family", family},
                             {"layers", layers},
                             {"vocabulary", vocabulary},
                             {"sequence", sequence},
                             {"batch", batch},
                             {"micro_batches", microBatches}}},
      {"mesh", mesh},
      {"ranks", ranks},
      {"precision", precision},
      {"target", json::Object{{"device", device},
                              {device == "cuda" ? "arch" : "cpu", processor}}},
      {"parameters", parameters},
      {"parameters_of_rank", parametersOfRank},
      {"flops_of_rank", flopsOfRank},
      {"causal_work", json::Array(causalWork)},
      {"recompute",
       json::Object{{"mode", recompute}, {"flops_of_rank", recomputedFlops}}},
      {"memory",
       json::Object{{"bytes", arenaBytes}, {"by_kind", std::move(kinds)}}},
      {"collectives", std::move(groups)}};
  if (pipeline)
    all["pipeline"] = pipeline->json();
  if (owners)
    all["parameter_server"] = owners->json();
  return all;
}
