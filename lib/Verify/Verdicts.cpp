//===- Verdicts.cpp - the verdicts of all checks --------------------------===//

#include "tessera/Verify/Verify.h"

using namespace tessera;
namespace json = llvm::json;

const Verdict *tessera::firstFailure(const std::vector<Verdict> &verdicts) {
  for (const Verdict &verdict : verdicts)
    if (!verdict.failure.empty())
      return &verdict;
  return nullptr;
}

json::Object tessera::verdictsJson(const std::vector<Verdict> &verdicts) {
  const bool isGood = !firstFailure(verdicts);
  json::Array checks;
  for (const Verdict &verdict : verdicts)
    checks.push_back(json::Object{{"check", verdict.check},
                                  {"what", verdict.what},
                                  {"ok", verdict.failure.empty()},
                                  {"failure", verdict.failure}});
  return json::Object{{"ok", isGood},
                      {"status", isGood ? "verified" : "failed"},
                      {"checks", std::move(checks)}};
}
