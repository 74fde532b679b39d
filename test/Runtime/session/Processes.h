//===- Processes.h - each process's part on a thread ------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_SESSION_PROCESSES_H
#define TESSERA_TEST_RUNTIME_SESSION_PROCESSES_H

#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace fixture {

struct Processes {
  int dp = 2, tp = 2;
  tsr_session_options options = {};
  /// These say what goes wrong in a step, and on which rank.
  int fault = FAULT_NONE, faultyRank = 0;
};

/// Ranks that are ready. Nobody begins before all are: a failure is told to
/// all at once, also to those that are not in their step yet.
class Start {
public:
  explicit Start(int ranks) : missing(ranks) {}
  void wait() {
    --missing;
    while (missing > 0)
      std::this_thread::yield();
  }
  /// A rank that did not get here keeps nobody.
  void giveUp() { missing = 0; }

private:
  std::atomic<int> missing;
};

/// Calls body(training, rank) for each process of the mesh.
template <class Body> void onProcesses(Processes run, const Body &body) {
  std::string rendezvous = freeRendezvous();
  Start start(run.dp * run.tp);
  std::vector<double> fault(MAX_RANKS);
  fault[run.faultyRank] = run.fault;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < run.dp * run.tp; ++rank)
    threads.emplace_back([&, rank] {
      tsr_session_options options = run.options;
      options.world_size = run.dp * run.tp;
      options.rank = rank;
      options.rendezvous = rendezvous.c_str();
      options.rendezvous_timeout_ms = 300000;
      try {
        Training training(run.dp, run.tp, options);
        training.write("value", "fault", fault);
        start.wait();
        body(training, rank);
      } catch (const std::exception &error) {
        start.giveUp();
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_SESSION_PROCESSES_H
