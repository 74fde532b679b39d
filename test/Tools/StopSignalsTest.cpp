//===- StopSignalsTest.cpp - what a signal does to a run ------------------===//

#include "tools/tessera/train/StopSignals.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <initializer_list>

using namespace tessera;

namespace {

/// Each test body runs in a process of its own.
void raiseAll(RunStage stage, std::initializer_list<int> signals) {
  handleStopSignals(true);
  enterStage(stage);
  for (int signal : signals)
    raise(signal);
  std::_Exit(isToldToStop() ? 1 : 0);
}

TEST(StopSignals, EndAProcessThatHasNothingToLose) {
  EXPECT_EXIT(
      {
        handleStopSignals(true);
        raise(SIGTERM);
      },
      testing::ExitedWithCode(75),
      "note: SIGTERM: stopped before the first "
      "step");
}

TEST(StopSignals, LetAStepEnd) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU})
    EXPECT_EXIT(raiseAll(RunStage::Stepping, {signal}),
                testing::ExitedWithCode(1), "stopping after this step");
}

TEST(StopSignals, TheThirdInterruptLosesTheStep) {
  EXPECT_EXIT(raiseAll(RunStage::Stepping, {SIGINT, SIGINT}),
              testing::ExitedWithCode(1),
              "SIGINT: stopping after this step\n.*SIGINT: stopping after this "
              "step; once more ends the run at once");
  EXPECT_EXIT(raiseAll(RunStage::Stepping, {SIGINT, SIGINT, SIGINT}),
              testing::KilledBySignal(SIGINT), "ended at once");
}

/// A launcher may send its own signal after the terminal's.
TEST(StopSignals, OnlyInterruptsAreCounted) {
  EXPECT_EXIT(raiseAll(RunStage::Stepping,
                       {SIGTERM, SIGTERM, SIGTERM, SIGINT, SIGTERM}),
              testing::ExitedWithCode(1), "stopping after this step");
}

TEST(StopSignals, NeverLoseACheckpoint) {
  EXPECT_EXIT(raiseAll(RunStage::Saving, {SIGINT, SIGINT, SIGINT, SIGINT}),
              testing::ExitedWithCode(1),
              "stopping when the checkpoint is saved");
}

TEST(StopSignals, ChangeNothingOfAnEnd) {
  EXPECT_EXIT(raiseAll(RunStage::Ending, {SIGINT, SIGTERM, SIGINT, SIGINT}),
              testing::ExitedWithCode(0), "^$");
}

TEST(StopSignals, OneProcessOfARunTalks) {
  EXPECT_EXIT(
      {
        handleStopSignals(false);
        enterStage(RunStage::Stepping);
        raise(SIGINT);
        std::_Exit(isToldToStop() ? 1 : 0);
      },
      testing::ExitedWithCode(1), "^$");
}

} // namespace
