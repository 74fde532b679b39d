//===- Costs.cpp - seconds of one call ------------------------------------===//

#include "lib/Simulate/Groups.h"
#include "lib/Simulate/MeasuredCosts.h"
#include "tessera/Simulate/Simulate.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::simulate;

static double elementBytes(Precision precision) {
  return precision == Precision::BF16 ? 2 : precision == Precision::F64 ? 8 : 4;
}

static double secondsOfBytes(double bytes, const Device &device) {
  return bytes / (device.memoryBandwidth * device.memoryEfficiency);
}

/// `count` products of m x k and k x n.
static double secondsOfProduct(double m, double n, double k, double count,
                               const Program &program, const Device &device) {
  const ProductRate &rate = device.products.at(program.precision);
  double computed = std::numeric_limits<double>::infinity(); // elements
  for (const Tile &tile : rate.tiles) {
    double tiles =
        std::ceil(m / tile.rows) * std::ceil(n / tile.columns) * count;
    double waves = std::ceil(tiles / rate.units);
    computed =
        std::min(computed, waves * rate.units * tile.rows * tile.columns);
  }
  double computing =
      2 * computed * (k + rate.half) / (rate.peak * rate.efficiency);
  double moving = secondsOfBytes((m * k + k * n + m * n) * count *
                                     elementBytes(program.precision),
                                 device);
  return std::max(computing, moving);
}

/// Products of scores and of values, and in backward their gradients.
static double productsOf(const Call &call) {
  return call.kind == CallKind::Attention ? 2 : 4;
}

/// With all scores in memory, as before FlashAttention. Selective
/// recomputation makes them again before their gradient.
static double secondsOfStoredScores(const Call &call, const Program &program,
                                    const Cluster &cluster) {
  const AttentionModel &model = cluster.attention;
  double queries = static_cast<double>(call.shape[0]);
  double keys = static_cast<double>(call.shape[1]);
  double size = static_cast<double>(call.shape[2]);
  double products = productsOf(call);
  double bytes = model.forwardBytes;
  if (call.kind == CallKind::AttentionGradient) {
    if (call.scoresAgain) // the product of scores, and that of values
      products += cluster.software.recomputesWhole ? 2 : 1;
    bytes = model.backwardBytes + (call.scoresAgain ? model.forwardBytes : 0);
  }
  // One product for each head and sequence, of as many queries as keys.
  return secondsOfProduct(keys, keys, size, products * queries / keys, program,
                          cluster.device) +
         secondsOfBytes(bytes * queries * keys, cluster.device);
}

static double secondsOfAttention(const Call &call, const Program &program,
                                 const Cluster &cluster) {
  if (!cluster.attention.isFused)
    return secondsOfStoredScores(call, program, cluster);
  const ProductRate &rate = cluster.device.products.at(program.precision);
  return call.flops * program.causalImbalance /
         (rate.peak * rate.efficiency * cluster.attention.efficiency);
}

static int64_t sizeOfAxis(const Program &program, llvm::StringRef name) {
  for (const Axis &axis : program.mesh)
    if (axis.name == name)
      return axis.size;
  return 1;
}

/// What the cluster's software moves in a kernel, of what Tessera's moves.
static double scaleOfKernel(const Call &call, const StageProgram &stage,
                            const Software &software) {
  if (call.isUpdate)
    return software.updateScale;
  bool isCounted = call.isLoss && software.logitBytes > 0 && stage.logits > 0 &&
                   stage.lossBytes > 0;
  return isCounted ? software.logitBytes * stage.logits / stage.lossBytes : 1;
}

/// What the cluster's software moves of a collective's or a message's tensors.
static double bytesMoved(const Call &call, const Program &program,
                         const Cluster &cluster) {
  std::optional<double> least;
  for (size_t axis : call.axes) {
    auto found = cluster.software.elementBytes.find(program.mesh[axis].name);
    if (found != cluster.software.elementBytes.end())
      least = std::min(least.value_or(found->second), found->second);
  }
  return least ? call.elements * *least : call.bytes;
}

static double secondsToPeer(const Call &call, const Program &program,
                            int64_t rank, const Cluster &cluster) {
  std::vector<int64_t> group = program.groupOf(rank, call.axes);
  double bytes = bytesMoved(call, program, cluster);
  const std::string &axis = cluster.software.scattersMessagesOver;
  // Parts of the stream are no whole tensors that could be sent in parts.
  bool isPart = program.streamAxes.count(axis);
  int64_t senders = isPart ? 1 : sizeOfAxis(program, axis);
  double seconds = secondsOfMessage(bytes / static_cast<double>(senders), rank,
                                    group[call.peer], cluster);
  GroupPlace near{senders, 1, senders};
  return seconds +
         secondsOfCollective(dist::Collective::AllGather, bytes, near, cluster);
}

static bool computes(const Call &call) {
  return call.kind == CallKind::Kernel || call.kind == CallKind::Product ||
         call.kind == CallKind::Attention ||
         call.kind == CallKind::AttentionGradient;
}

double tessera::simulate::secondsOf(const Call &call, const Program &program,
                                    int64_t stage, const Cluster &cluster) {
  const Device &device = cluster.device;
  int64_t rank = program.firstRankOf(stage);
  auto measured = device.measured.find(program.precision);
  if (measured != device.measured.end() && computes(call))
    return device.launch + secondsOfMeasured(call, program, measured->second);
  switch (call.kind) {
  case CallKind::Kernel:
    return device.launch +
           secondsOfBytes(call.bytes * scaleOfKernel(call,
                                                     program.stages[stage],
                                                     cluster.software),
                          device);
  case CallKind::Product:
    return device.launch +
           secondsOfProduct(
               static_cast<double>(call.shape[0]),
               static_cast<double>(call.shape[1]),
               static_cast<double>(call.shape[2]),
               static_cast<double>(std::max<int64_t>(call.experts, 1)), program,
               device);
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return device.launch + secondsOfAttention(call, program, cluster);
  case CallKind::Collective:
    if (call.collective == dist::Collective::Zigzag &&
        cluster.software.hasZigzagData)
      return 0;
    return secondsOfCollective(
        call.collective, bytesMoved(call, program, cluster),
        placeOf(program.groupOf(rank, call.axes), cluster), cluster);
  case CallKind::Send:
  case CallKind::Receive:
    return secondsToPeer(call, program, rank, cluster);
  case CallKind::Wait:
    return 0;
  }
  return 0;
}
