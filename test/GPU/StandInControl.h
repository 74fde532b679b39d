//===- StandInControl.h - what a test asks and tells the stand-in of CUDA -===//
#ifndef TESSERA_TEST_GPU_STANDINCONTROL_H
#define TESSERA_TEST_GPU_STANDINCONTROL_H

#include <atomic>

/// GPUs that the stand-in shows.
extern std::atomic<int> standInDevices;
/// Major compute capability of all.
extern std::atomic<int> standInMajor;
/// Calls that took device memory so far.
extern std::atomic<int> standInAllocations;

#endif // TESSERA_TEST_GPU_STANDINCONTROL_H
