//===- Machine.h - a cluster whose times are easy to know -------*- C++ -*-===//

#ifndef TESSERA_TEST_SIMULATE_MACHINE_H
#define TESSERA_TEST_SIMULATE_MACHINE_H

#include "tessera/Simulate/Simulate.h"

namespace tessera::simulate {

/// Returns the nodes of two devices: 10 flops and 100 bytes of memory per
/// second; 50 bytes per second within a node, 10 between nodes.
inline Cluster smallCluster(int64_t nodes = 4) {
  Cluster cluster;
  cluster.name = "small";
  cluster.kind = DeviceKind::Cpu; // for programs without isCuda
  cluster.nodes = nodes;
  cluster.devicesPerNode = 2;
  cluster.device.memoryBandwidth = 100;
  cluster.device.products[Precision::F32].peak = 10;
  cluster.node.bandwidth = 50;
  cluster.network.bandwidth = 10;
  return cluster;
}

inline Call kernel(int64_t bytes) {
  Call call;
  call.op = "launch";
  call.bytes = bytes;
  return call;
}

inline Call allReduce(int64_t bytes, llvm::SmallVector<size_t, 2> axes,
                      int64_t wait = 0) {
  Call call;
  call.kind = CallKind::Collective;
  call.op = "all_reduce";
  call.collective = Collective::AllReduce;
  call.bytes = bytes;
  call.elements = bytes / 4;
  call.meshAxes = std::move(axes);
  call.wait = wait;
  return call;
}

inline Call message(CallKind kind, int64_t bytes, int64_t peer,
                    int64_t wait = 0) {
  Call call;
  call.kind = kind;
  call.op = kind == CallKind::Send ? "send" : "receive";
  call.bytes = bytes;
  call.elements = bytes / 4;
  call.meshAxes = {0};
  call.peer = peer;
  call.wait = wait;
  return call;
}

inline Call waits() {
  Call call;
  call.kind = CallKind::Wait;
  call.op = "wait";
  return call;
}

} // namespace tessera::simulate

#endif // TESSERA_TEST_SIMULATE_MACHINE_H
