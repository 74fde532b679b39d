//===- StandInNccl.h - what a test asks and tells the stand-in of NCCL ----===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_STANDINNCCL_H
#define TESSERA_TEST_RUNTIME_CUDA_STANDINNCCL_H

#include <atomic>

/// Counts calls of the whole process; a test resets it.
struct StandInNccl {
  std::atomic<int> created{0}, destroyed{0}, aborted{0};
  /// Calls of a group that real NCCL would hang on or corrupt memory with.
  std::atomic<int> mismatches{0};
  /// Collectives that ran, on all ranks.
  std::atomic<int> ran{0};
  /// The most collectives between ncclGroupStart and ncclGroupEnd.
  std::atomic<int> largestGroup{0};
  /// Faults: ncclCommInitRank never returns; every communicator reports a
  /// remote error.
  std::atomic<bool> initHangs{false}, reportsError{false};

  void reset() {
    created = destroyed = aborted = mismatches = ran = largestGroup = 0;
    initHangs = reportsError = false;
  }
};

/// Exported by the stand-in library.
extern "C" StandInNccl *standInNccl();

#endif // TESSERA_TEST_RUNTIME_CUDA_STANDINNCCL_H
