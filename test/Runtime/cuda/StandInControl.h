//===- StandInControl.h - what a test asks and tells the stand-in of CUDA -===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_STANDINCONTROL_H
#define TESSERA_TEST_RUNTIME_CUDA_STANDINCONTROL_H

#include <atomic>
#include <cstdlib>
#include <cstring>

/// GPUs that the stand-in shows.
extern std::atomic<int> standInDevices;
/// Major compute capability of all.
extern std::atomic<int> standInMajor;
/// Returns whether TESSERA_STANDIN=idle is in the environment: calls that are
/// queued are done at once, by doing nothing, kernels of any name are found,
/// and there is memory of any size, all zero. bench/gpu/host.py, which times
/// the host, uses it.
inline bool standInIsIdle() {
  static const bool isIdle = [] {
    const char *mode = std::getenv("TESSERA_STANDIN");
    return mode && std::strcmp(mode, "idle") == 0;
  }();
  return isIdle;
}
/// Launches of generated kernels so far, those of a graph when it is captured.
extern std::atomic<int> standInLaunches;
/// Calls that took device memory so far.
extern std::atomic<int> standInAllocations;
/// True if the stand-in's library has epilogues beside the bias.
extern std::atomic<bool> standInEpilogues;
/// Products that its library was asked for so far.
extern std::atomic<int> standInProducts;

#endif // TESSERA_TEST_RUNTIME_CUDA_STANDINCONTROL_H
