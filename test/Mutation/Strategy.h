//===- Strategy.h - a program whose mutants are judged ----------*- C++ -*-===//
// A small model and what the compiler is told to make of it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_MUTATION_STRATEGY_H
#define TESSERA_TEST_MUTATION_STRATEGY_H

#include "tessera/Options/PlanOptions.h"
#include <string>
#include <vector>

namespace tessera::test {

struct Strategy {
  std::string model; ///< A config.json of this folder, without ".json".
  std::string mesh;
  /// Flags of the driver: "--zero 2 --sequence-parallel".
  std::string flags;
  bool quick = false; ///< In every run of the tests, a sample of its mutants.
  std::string config =
      {}; ///< The path of another config.json; "": see `model`.

  /// The program continues texts, and is no training step.
  bool generates() const {
    return flags.find("--programs generate") != std::string::npos;
  }
  std::string name() const {
    return model + " " + mesh + (flags.empty() ? "" : " " + flags);
  }
  std::string configPath() const;
  /// Sets the options of the passes. Returns what is wrong with a flag, or "".
  std::string apply(PlanOptions &plan) const;
};

/// Returns the programs of the table in docs/TheOneRule.md.
std::vector<Strategy> strategies();
/// Returns the strategies of the table in docs/Generation.md.
std::vector<Strategy> generationStrategies();
/// Returns programs of each model in test/models, by what its family can do.
std::vector<Strategy> modelStrategies();

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_STRATEGY_H
