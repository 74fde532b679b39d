//===- RuleText.cpp - the words of a rule ---------------------------------===//

#include "lib/Options/RuleText.h"
#include "tessera/Options/PlanFlags.h"

using namespace tessera;

int64_t tessera::longestOf(const PlanOptions &plan) {
  constexpr int64_t usual = 4096; // tokens, if no length is given
  return plan.generation.length ? plan.generation.length : usual;
}

namespace {

struct NamedText {
  const char *name;
  std::string (*of)(const PlanOptions &plan);
};

const NamedText kTexts[] = {
    {"most owners",
     [](const PlanOptions &) { return std::to_string(kMostOwners); }},
    {"most ring ranks",
     [](const PlanOptions &) { return std::to_string(kMostRingRanks); }},
    {"most tokens",
     [](const PlanOptions &) { return std::to_string(kMostCachedTokens); }},
    {"longest",
     [](const PlanOptions &plan) { return std::to_string(longestOf(plan)); }},
    {"lanes",
     [](const PlanOptions &plan) { return std::to_string(plan.mesh.lanes()); }},
};

} // namespace

static std::string valueOf(const std::string &name, const PlanOptions &plan) {
  if (std::optional<MeshAxis> axis = fromName<MeshAxis>(name))
    return std::to_string(plan.mesh.sizeOf(*axis));
  for (const NamedText &text : kTexts)
    if (name == text.name)
      return text.of(plan);
  for (const PlanFlag &flag : planFlags())
    if (flag.name == "--" + name)
      return flag.text(plan);
  return "";
}

std::string RuleText::str(const PlanOptions &plan) const {
  std::string text = what + " " + why;
  if (instead)
    text += std::string("; ") + instead;
  std::string filled;
  size_t at = 0;
  for (size_t open; (open = text.find('{', at)) != std::string::npos;) {
    size_t close = text.find('}', open);
    filled += text.substr(at, open - at) +
              valueOf(text.substr(open + 1, close - open - 1), plan);
    at = close + 1;
  }
  return filled + text.substr(at);
}
