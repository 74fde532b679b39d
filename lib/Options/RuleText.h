//===- RuleText.h - the words of a rule -------------------------*- C++ -*-===//

#ifndef TESSERA_LIB_OPTIONS_RULETEXT_H
#define TESSERA_LIB_OPTIONS_RULETEXT_H

#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// Tokens of the longest request.
int64_t longestOf(const PlanOptions &plan);

/// A parameter server makes a program for each rank, and a ring a step.
inline constexpr int64_t kMostOwners = 1024, kMostRingRanks = 1024;
/// Caches of so many tokens have a size in bytes that does not overflow.
inline constexpr int64_t kMostCachedTokens = int64_t(1) << 40;

/// The parts of an error. In a text, {zero} stands for the value of --zero,
/// {dp} for the size of a mesh axis, and {lanes} for a row of the table in
/// RuleText.cpp.
struct RuleText {
  std::string what;
  const char *why;
  const char *instead = nullptr; ///< Null: the reason says it.

  std::string str(const PlanOptions &plan) const;
};

} // namespace tessera

#endif // TESSERA_LIB_OPTIONS_RULETEXT_H
