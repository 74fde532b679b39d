//===- NumaNodes.h - the machine's cores by memory --------------*- C++ -*-===//
// Cores of a NUMA node are near the same memory. The system tells them in
// /sys/devices/system/node, which is all that a share of the cores needs.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_NUMANODES_H
#define TESSERA_RUNTIME_DEVICE_NUMANODES_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Cores of each node, in the order of their numbers.
using NumaNodes = std::vector<std::vector<int>>;

/// Reads a list of the system: "0-3,8" is 0, 1, 2, 3, 8. What is no number ends
/// it.
std::vector<int> readCpuList(const std::string &text);

/// Returns those of `cores` that each node of a directory has, without nodes
/// that have none. Cores of no node, or all of them if the directory tells
/// nothing, are one node.
NumaNodes
numaNodesOf(const std::vector<int> &cores,
            const std::string &directory = "/sys/devices/system/node");

/// Returns the cores of one of several processes, which share all cores. A
/// process has those of one node, if the numbers allow that.
std::vector<int> shareOfCores(const NumaNodes &nodes, int64_t processes,
                              int64_t process);

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_NUMANODES_H
