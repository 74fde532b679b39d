//===- TrainingRun.h - training of the fixture, step by step ----*- C++ -*-===//
// The driver trains this run under faults, and its tests compare with the same
// run.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_FAULTS_TRAININGRUN_H
#define TESSERA_TEST_RUNTIME_FAULTS_TRAININGRUN_H

#include "tessera/tessera.hpp"

#include <string>
#include <vector>

namespace faults {

/// The driver saves after the first half of its steps, twice, and at the end.
constexpr int64_t halfOfSteps = 2, allSteps = 4;

/// One session of the fixture's artifact. Errors are tessera::Exception.
class TrainingRun {
public:
  TrainingRun(const std::string &artifact, const std::string &data,
              const tsr_session_options &options);

  /// Trains until `step` is the next one.
  void trainTo(int64_t step);
  /// Returns all parameters and moments.
  std::vector<double> state();

private:
  tessera::Artifact artifact;
  tessera::Data data;

public:
  tessera::Session session;
};

/// Writes the digest of a state and the number of its step as text.
std::string digestOf(int64_t step, const std::vector<double> &state);

} // namespace faults

#endif // TESSERA_TEST_RUNTIME_FAULTS_TRAININGRUN_H
