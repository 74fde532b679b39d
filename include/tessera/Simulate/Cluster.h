//===- Cluster.h - what a simulation knows of machines ----------*- C++ -*-===//
// Devices, the links between them and the software that drives them, as a file
// of clusters/ states them. Units: seconds, bytes, bytes per second, flops per
// second.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SIMULATE_CLUSTER_H
#define TESSERA_SIMULATE_CLUSTER_H

#include "tessera/Options/PlanOptions.h"
#include "llvm/Support/Error.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tessera::simulate {

/// Rows and columns of a product that a unit of a device computes at once.
struct Tile {
  double rows = 1, columns = 1;
};

/// Matrix products of one precision. The tiles of a product are dealt to the
/// units in waves, the last of which may leave units idle; a tile of a product
/// over k takes `2 rows columns k (1 + half / k)` flops of its unit's share of
/// `peak * efficiency`. Of several tiles the fastest is taken.
struct ProductRate {
  double peak = 0;
  double efficiency = 1;
  double half = 0; ///< The k at which the rate is half of it all.
  double units = 1;
  std::vector<Tile> tiles = {Tile()};
};

struct Device {
  double memoryBytes = 0;
  double memoryBandwidth = 0;
  double memoryEfficiency = 1; ///< That kernels reach of the bandwidth.
  double launch = 0;           ///< Added to every call.
  std::map<Precision, ProductRate> products;
};

/// How attention is computed.
struct AttentionModel {
  /// Fused: products alone, of the scores that the mask leaves. Otherwise all
  /// scores are stored: products of all of them, and these bytes for each.
  bool isFused = true;
  double efficiency = 1; ///< Of a fused kernel, times that of products.
  double forwardBytes = 0, backwardBytes = 0; ///< Per score.
};

/// A value that grows with the size of a message: points (bytes, value) in
/// ascending order of bytes, in between linear in the logarithm of bytes, and
/// constant beyond the ends.
struct SizeCurve {
  std::vector<std::pair<double, double>> points;
  double at(double bytes) const;
};

/// The links between the devices of a node, or between nodes.
struct Link {
  double bandwidth = 0; ///< Of one device, in one direction, of messages.
  double latency = 0;   ///< Of a message.
  /// Bus bandwidth of collectives (what a ring would need) by the bytes of the
  /// whole tensor; empty: `bandwidth` for all.
  SizeCurve collectives;
  /// Of that, what all-gather and reduce-scatter reach.
  double gatherEfficiency = 1;
};

/// How the software that runs there moves data, where it is not Tessera.
struct Software {
  /// Collectives over different axes, and messages to and from each rank, run
  /// beside each other. False: a device runs all of them one after the other,
  /// in the order of the program.
  bool hasQueuePerGroup = false;
  /// A message is sent when its sender has it, whether or not the receiver is
  /// ready. False: it waits for both.
  bool buffersMessages = false;
  /// Axes whose collectives and messages nothing is computed beside.
  std::set<std::string> blockingAxes;
  /// Of the time of a transfer, what computing beside it hides: kernels of
  /// communication take a part of the device.
  double hidden = 1;
  /// Bytes that it moves over an axis, of those that Tessera's program moves.
  std::map<std::string, double> communicationScale;
  /// Each rank of this axis sends its part of a message, and the receivers
  /// gather the parts; "": each sends all of it.
  std::string scattersMessagesOver;
};

struct Cluster {
  std::string name;
  int64_t nodes = 1, devicesPerNode = 1;
  Device device;
  AttentionModel attention;
  Link node;    ///< Within a node.
  Link network; ///< Between nodes; `bandwidth` is a device's share of them.
  Software software;

  int64_t devices() const { return nodes * devicesPerNode; }
};

/// Reads a file of TOML. An error names the file, the line and what may stand
/// there.
llvm::Expected<Cluster> readCluster(const std::string &path);

} // namespace tessera::simulate

#endif // TESSERA_SIMULATE_CLUSTER_H
