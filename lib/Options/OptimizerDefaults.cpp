//===- OptimizerDefaults.cpp - what each optimizer takes ------------------===//

#include "tessera/Options/OptimizerDefaults.h"

using namespace tessera;

namespace {

/// Negative: it takes no such value.
struct Defaults {
  OptimizerKind kind;
  double beta1, beta2, momentum, weightDecay;
  bool takesNesterov;
};

// SGD as in PyTorch, with the usual momentum; Lion by Chen et al. 2023
// (arXiv 2302.06675), table 12; Muon by Jordan et al. 2024, whose other
// parameters are AdamW's.
constexpr Defaults kDefaults[] = {
    {OptimizerKind::AdamW, 0.9, 0.95, -1, 0.1, false},
    {OptimizerKind::Sgd, -1, -1, 0.9, 0, true},
    {OptimizerKind::Lion, 0.9, 0.99, -1, 0.1, false},
    {OptimizerKind::Muon, 0.9, 0.95, 0.95, 0.1, false},
};

const Defaults &defaultsOf(OptimizerKind kind) {
  for (const Defaults &row : kDefaults)
    if (row.kind == kind)
      return row;
  return kDefaults[0];
}

/// Returns "sgd and muon", the kinds for which `takes` holds.
template <typename Takes> std::string listKinds(Takes takes) {
  std::vector<std::string> names;
  for (const Defaults &row : kDefaults)
    if (takes(row))
      names.push_back(nameOf(row.kind));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

template <typename Takes>
std::string refuse(const std::string &flag, OptimizerKind kind, Takes takes) {
  return flag + " is of " + listKinds(takes) + ", and --optimizer " +
         nameOf(kind) + " has none; leave it out, or choose another optimizer";
}

} // namespace

std::string tessera::checkOptimizer(const OptimizerOptions &optimizer,
                                    const GivenFlags &given) {
  const Defaults &row = defaultsOf(optimizer.kind);
  auto check = [&](const char *flag, double Defaults::*member) {
    if (!given.count(flag) || row.*member >= 0)
      return std::string();
    return refuse(flag, optimizer.kind,
                  [=](const Defaults &other) { return other.*member >= 0; });
  };
  for (std::string why :
       {check("--beta1", &Defaults::beta1), check("--beta2", &Defaults::beta2),
        check("--momentum", &Defaults::momentum)})
    if (!why.empty())
      return why;
  if (optimizer.nesterov && !row.takesNesterov)
    return refuse("--nesterov", optimizer.kind,
                  [](const Defaults &other) { return other.takesNesterov; });
  if (optimizer.nesterov && optimizer.momentum == 0)
    return "--nesterov looks ahead along the momentum, but --momentum is 0; "
           "leave one of the two out";
  return "";
}

OptimizerOptions tessera::completed(OptimizerOptions given) {
  const Defaults &row = defaultsOf(given.kind);
  auto complete = [](double &value, double own) {
    if (value < 0)
      value = own < 0 ? 0 : own;
  };
  complete(given.beta1, row.beta1);
  complete(given.beta2, row.beta2);
  complete(given.momentum, row.momentum);
  complete(given.weightDecay, row.weightDecay);
  return given;
}

bool tessera::takesBiasCorrections(OptimizerKind kind) {
  return kind == OptimizerKind::AdamW || kind == OptimizerKind::Muon;
}
