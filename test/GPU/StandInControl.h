//===- StandInControl.h - what a test asks and tells the stand-in of CUDA -===//
#ifndef TESSERA_TEST_GPU_STANDINCONTROL_H
#define TESSERA_TEST_GPU_STANDINCONTROL_H

#include <atomic>

/// GPUs that the stand-in shows.
extern std::atomic<int> standInDevices;
/// Calls that took device memory so far.
extern std::atomic<int> standInAllocations;
/// Whether the stand-in's library has epilogues beside the bias.
extern std::atomic<bool> standInEpilogues;
/// Products that its library was asked for so far.
extern std::atomic<int> standInProducts;

#endif // TESSERA_TEST_GPU_STANDINCONTROL_H
