//===- Witness.h - judges what a run left behind ----------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_FAULTS_WITNESS_H
#define TESSERA_TEST_RUNTIME_FAULTS_WITNESS_H

#include "test/Runtime/faults/DriverProcess.h"
#include "test/Runtime/faults/TrainingRun.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

namespace faults {

/// Knows the state after each step of a run without faults.
class Witness {
public:
  Witness();

  /// Ended well, with the right digest, or said why not and exited with 1.
  ::testing::AssertionResult endedProperly(const Outcome &outcome) const;
  /// The newest checkpoint in `directory` is of step `promised` or later, and
  /// training goes on from it to the same bits; 0: there may be none.
  ::testing::AssertionResult resumes(const std::string &directory,
                                     int64_t promised);
  /// Whatever has the name of a complete checkpoint can be loaded.
  ::testing::AssertionResult areWhole(const std::string &directory);
  /// The next run may save there, and nothing half-written stays.
  ::testing::AssertionResult isUsable(const std::string &directory) const;

  /// Returns the files of the fixture, 2 x 2 ranks, and its data.
  std::vector<std::string> files() const { return {artifact, data}; }

private:
  fixture::TemporaryDirectory directory;
  std::string artifact, data;
  std::vector<std::string> digests; ///< one for each step
  std::unique_ptr<TrainingRun> run;
};

} // namespace faults

#endif // TESSERA_TEST_RUNTIME_FAULTS_WITNESS_H
