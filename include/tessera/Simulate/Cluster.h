//===- Cluster.h - what a simulation knows of machines ----------*- C++ -*-===//
// Devices, the links between them and the software that drives them, as a file
// of clusters/ states them. Units: seconds, bytes, bytes per second, flops per
// second.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SIMULATE_CLUSTER_H
#define TESSERA_SIMULATE_CLUSTER_H

#include "tessera/Options/PlanOptions.h"
#include "tessera/Simulate/StepProgram.h"
#include "llvm/Support/Error.h"
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera::simulate {

/// Rows and columns of a product that a unit of a device computes at once.
struct Tile {
  double rows = 1, columns = 1;
};

/// A value that grows with the size of a message: points (bytes, value) in
/// ascending order of bytes, in between linear in the logarithm of bytes, and
/// constant beyond the ends.
struct SizeCurve {
  std::vector<std::pair<double, double>> points;
  double at(double bytes) const;
};

/// Measured rates of calls by their shape. Between points the logarithm of the
/// rate is a mean of theirs, weighted by the fourth power of the inverse
/// distance between the logarithms of shapes.
struct ShapeRates {
  struct Point {
    std::array<double, 3> shape;
    double rate;
  };
  std::vector<Point> points;
  /// If there is one: the seconds of a flop as `t[0] + t[1] / m + t[2] / n +
  /// t[3] / k`, and the mean is of what points reach of the rate that it gives.
  std::optional<std::array<double, 4>> trend;

  double at(const std::array<int64_t, 3> &shape) const;
  /// Sets `trend` to what suits the points best, with no term below 0. It is
  /// the cost of a product whose multiplications take equally long and whose
  /// operands and result are each moved once; there must be a point.
  void fitTrend();
};

/// Measured rates of products: how fast a library packs an operand depends on
/// whether it is stored transposed.
struct ProductRates {
  /// Flops per second for each form, by m, n, k.
  std::array<ShapeRates, kProductForms> forms;

  ShapeRates &operator[](ProductForm form) {
    return forms[static_cast<size_t>(form)];
  }
  /// Returns the rates of a form; those of plain products if nothing else was
  /// measured.
  const ShapeRates &of(ProductForm form) const;
  /// "products_transposed_a", as files of clusters have it.
  static const char *keyOf(ProductForm form);
};

/// Matrix products of one precision. The tiles of a product are dealt to the
/// units in waves, the last of which may leave units idle. Units multiply at
/// their share of `peak * efficiency`, and then write their results at the rate
/// of memory. k may be cut into parts, for more tiles, whose partial results
/// are added up. Of several tiles and cuts the fastest is taken.
struct ProductRate {
  double peak = 0;
  double efficiency = 1;
  double units = 1;
  std::vector<Tile> tiles = {Tile()};
};

/// The rates that calls of a program of one precision reach, as measured.
struct MeasuredRates {
  ProductRates products;
  /// Rates by queries of all heads and sequences, keys of each, size of a head.
  ShapeRates attention, attentionGradient;
  /// Keys for each query whose scores attention computes in vain where a mask
  /// hides some (blocks that the mask cuts are computed whole).
  double hiddenKeys = 0;
  ShapeRates expertProducts; ///< Sum over all experts, by m, n, k of each one.
  /// Bytes per second by bytes: of kernels, some of whose bytes caches hold,
  /// and of the optimizer, whose tensors they have lost.
  SizeCurve kernels, updates;
  SizeCurve routing;   ///< The same of calls that choose or move experts' rows.
  double function = 0; ///< Time that exp, log, tanh or erf of an element adds.
};

struct Device {
  double memoryBytes = 0;
  double memoryBandwidth = 0;
  double memoryEfficiency = 1; ///< Share of the bandwidth that kernels reach.
  double launch = 0;           ///< Added to every call.
  std::map<Precision, ProductRate> products;
  /// Rates of a CPU, which uses the peak alone of `products`.
  std::map<Precision, MeasuredRates> measured;
};

/// The way in which attention is computed.
struct AttentionModel {
  /// Fused: products alone, of the scores that the mask leaves. Otherwise all
  /// scores are stored: products of all of them, and these bytes for each.
  bool isFused = true;
  /// Efficiency of a fused kernel, forward and backward, times that of
  /// products.
  double efficiency = 1, gradientEfficiency = 1;
  double forwardBytes = 0, backwardBytes = 0; ///< Per score.
};

/// The links between the devices of a node, or between nodes.
struct Link {
  double bandwidth = 0; ///< In one direction of one device, for messages.
  double latency = 0;   ///< Time that a message adds.
  /// Bus bandwidth of collectives (what a ring would need) by the bytes of the
  /// whole tensor; empty: `bandwidth` for all.
  SizeCurve collectives;
  /// The share of it that all-gather and reduce-scatter reach.
  double gatherEfficiency = 1;
  /// And what exchanges reach, all-to-all; more than 1, if they are faster.
  double exchangeEfficiency = 1;
  /// A machine that was busy while it was measured may have seemed slower.
  static constexpr double kLeastExchangeEfficiency = 1e-3;
};

/// Bytes of what a software keeps in memory that runs op by op.
struct KeptBytes {
  /// Bytes of a parameter: as products read it, its gradient, and what only the
  /// optimizer reads (a copy in f32, moments).
  double weight = 0, gradient = 0, optimizer = 0;
  /// Bytes of an element that backward reads, but for losses.
  double activation = 0;
  /// Bytes of an element of dropout; 0: it keeps no masks.
  double mask = 0;
};

/// The software that moves data there, if it is not Tessera.
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
  /// Axes whose collectives run beside all other work, wherever they stand in
  /// Tessera's program; a step takes as long as they do in all.
  std::set<std::string> overlappedAxes;
  /// Axes whose collectives begin, in a pipeline, where Tessera's program waits
  /// for them, so that nothing is computed beside: gradients that are reduced
  /// when backward has ended.
  std::set<std::string> deferredAxes;
  /// Not in pipelines alone: the program is one stage of them.
  bool alwaysDefers = false;
  /// Axes whose collectives run in slices, one for each of their ranks, beside
  /// the products that make or read their tensors: an all-gather beside what
  /// follows it, others beside what precedes them.
  std::set<std::string> slicedAxes;
  /// A layer that recomputes everything runs all of its forward again, and one
  /// that recomputes attention alone both of its products; Tessera repeats what
  /// backward needs.
  bool recomputesWhole = false;
  /// Sequences come in zigzag order, so that none is made.
  bool hasZigzagData = false;
  /// The share of a transfer's time that computing beside it hides: kernels of
  /// communication take a part of the device.
  double hidden = 1;
  /// For each axis, the bytes of each element that it moves, if these are not
  /// as many as Tessera's program moves.
  std::map<std::string, double> elementBytes;
  /// Bytes of an element of a product's result; 0: as many as Tessera's.
  double resultBytes = 0;
  /// Bytes that are written and read for each element of a weight's gradient
  /// in each micro-batch, by its product and by what adds it up; 0: as many as
  /// Tessera's products move.
  double gradientSumBytes = 0;
  /// Bytes that kernels of the loss, forward and backward, move for each logit;
  /// 0: as many as Tessera's.
  double logitBytes = 0;
  /// Bytes that kernels of the optimizer move, of those that Tessera's move.
  double updateScale = 1;
  /// Bytes that programs in bf16 keep; none: not known.
  std::optional<KeptBytes> memory;
  /// Each rank of this axis sends its part of a message, and the receivers
  /// gather the parts; "": each sends all of it.
  std::string scattersMessagesOver;
};

struct Cluster {
  std::string name;
  DeviceKind kind = DeviceKind::Cuda;
  /// The architecture of GPUs, as sm_90; "": not known.
  std::string architecture;
  int64_t nodes = 1, devicesPerNode = 1;
  double nodePower = 0; ///< Watts of a node at full load; 0: not known.
  Device device;
  // These are for CPUs. The ranks of a node, as many as one likes, share its
  // cores; a `Device` is what one of them has of its node, by the number of its
  // threads.
  int64_t coresPerNode = 0;
  double nodeMemoryBytes = 0;
  std::map<int64_t, Device> byThreads;
  AttentionModel attention;
  Link node;    ///< Within a node.
  Link network; ///< Between nodes; `bandwidth` is a device's share of them.
  Software software;

  int64_t devices() const { return nodes * devicesPerNode; }
  /// Returns a cluster of CPUs with `device` and `devicesPerNode` as so many
  /// ranks have them, which get equal shares of the cores, and at least one
  /// thread each.
  Cluster sharedBy(int64_t ranks) const;
  /// Threads of each rank, as the runtime chooses them.
  int64_t threadsOf(int64_t ranks) const;
};

/// Reads a file of TOML. An error names the file, the line and what may stand
/// there.
llvm::Expected<Cluster> readCluster(const std::string &path);

/// Returns a file that readCluster reads as this cluster; what was measured of
/// CPUs is rounded to four digits.
std::string clusterText(const Cluster &cluster);

} // namespace tessera::simulate

#endif // TESSERA_SIMULATE_CLUSTER_H
