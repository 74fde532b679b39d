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

/// `count` products of m x k and k x n, whose units write and read
/// `resultBytes` when they have multiplied. Libraries cut k into up to
/// `kMostCuts` parts if there are few tiles; partial results are written, and
/// read again to be added up.
static double secondsOfProduct(double m, double n, double k, double count,
                               double resultBytes, const Program &program,
                               const Device &device) {
  constexpr int kMostCuts = 16;
  const ProductRate &rate = device.products.at(program.precision);
  double element = elementBytes(program.precision);
  double computing = std::numeric_limits<double>::infinity();
  for (const Tile &tile : rate.tiles) {
    double tiles =
        std::ceil(m / tile.rows) * std::ceil(n / tile.columns) * count;
    for (int cuts = 1; cuts == 1 || (cuts <= kMostCuts && cuts <= k); ++cuts) {
      double waves = std::ceil(tiles * cuts / rate.units);
      double elements = waves * rate.units * tile.rows * tile.columns / cuts;
      double parts = cuts > 1 ? 2 * cuts * m * n * count : 0;
      computing = std::min(
          computing, 2 * elements * k / (rate.peak * rate.efficiency) +
                         secondsOfBytes(parts * std::max(element, 4.), device));
      if (waves * rate.units == tiles * cuts) // no unit idles
        break;
    }
  }
  double moving = secondsOfBytes((m * k + k * n) * count * element, device);
  return std::max(computing, moving) + secondsOfBytes(resultBytes, device);
}

static double secondsOfProduct(const Call &call, const Program &program,
                               const Cluster &cluster) {
  auto [m, n, k] = call.shape;
  double count = static_cast<double>(std::max<int64_t>(call.experts, 1));
  double results = static_cast<double>(m) * static_cast<double>(n) * count;
  const Software &software = cluster.software;
  // The gradient of a weight is a sum over rows of what forward has read.
  bool isSum = !call.isForward() && call.form == ProductForm::TransposedA;
  double bytes = call.resultBytes > 0
                     ? static_cast<double>(call.resultBytes)
                     : results * elementBytes(program.precision);
  if (double given = isSum ? software.gradientSumBytes : software.resultBytes;
      given > 0)
    bytes = results * given;
  return secondsOfProduct(static_cast<double>(m), static_cast<double>(n),
                          static_cast<double>(k), count, bytes, program,
                          cluster.device);
}

/// With all scores in memory, as before FlashAttention. Selective
/// recomputation makes them again before their gradient.
static double secondsOfStoredScores(const Call &call, const Program &program,
                                    const Cluster &cluster) {
  const AttentionModel &model = cluster.attention;
  double queries = static_cast<double>(call.shape[0]);
  double keys = static_cast<double>(call.shape[1]);
  double size = static_cast<double>(call.shape[2]);
  // Products that make scores or their gradients, and those that read them.
  double making = 1, reading = 1, bytes = model.forwardBytes;
  if (call.kind == CallKind::AttentionGradient) {
    reading = 3;
    bytes = model.backwardBytes;
    if (call.layerMode == Recompute::Selective) {
      ++making;
      // It also reads the values.
      reading += cluster.software.recomputesWhole ? 1 : 0;
      bytes += model.forwardBytes;
    }
  }
  // One product for each head and sequence, of as many queries as keys.
  double count = queries / keys, element = elementBytes(program.precision);
  return secondsOfProduct(keys, keys, size, making * count,
                          making * queries * keys * element, program,
                          cluster.device) +
         secondsOfProduct(keys, size, keys, reading * count,
                          reading * queries * size * element, program,
                          cluster.device) +
         secondsOfBytes(bytes * queries * keys, cluster.device);
}

static double secondsOfAttention(const Call &call, const Program &program,
                                 const Cluster &cluster) {
  if (!cluster.attention.isFused)
    return secondsOfStoredScores(call, program, cluster);
  const ProductRate &rate = cluster.device.products.at(program.precision);
  double efficiency = call.kind == CallKind::Attention
                          ? cluster.attention.efficiency
                          : cluster.attention.gradientEfficiency;
  return static_cast<double>(call.flops) * program.causalImbalance /
         (rate.peak * rate.efficiency * efficiency);
}

static int64_t sizeOfAxis(const Program &program, llvm::StringRef name) {
  for (const Axis &axis : program.mesh)
    if (axis.name == name)
      return axis.size;
  return 1;
}

/// Returns the share of the bytes of Tessera's kernel that the cluster's
/// software moves.
static double scaleOfKernel(const Call &call, const StageProgram &stage,
                            const Software &software) {
  if (call.isUpdate())
    return software.updateScale;
  bool isCounted = call.role == CallRole::Loss && software.logitBytes > 0 &&
                   stage.logits > 0 && stage.lossBytes > 0;
  return isCounted ? software.logitBytes * stage.logits / stage.lossBytes : 1;
}

/// Returns the bytes of a collective's or a message's tensors that the
/// cluster's software moves.
static double bytesMoved(const Call &call, const Program &program,
                         const Cluster &cluster) {
  std::optional<double> least;
  for (size_t axis : call.meshAxes) {
    auto found = cluster.software.elementBytes.find(program.mesh[axis].name);
    if (found != cluster.software.elementBytes.end())
      least = std::min(least.value_or(found->second), found->second);
  }
  return least ? static_cast<double>(call.elements) * *least
               : static_cast<double>(call.bytes);
}

static double secondsToPeer(const Call &call, const Program &program,
                            int64_t rank, const Cluster &cluster) {
  std::vector<int64_t> group = program.groupOf(rank, call.meshAxes);
  double bytes = bytesMoved(call, program, cluster);
  const std::string &axis = cluster.software.scattersMessagesOver;
  // Parts of the stream are no whole tensors that could be sent in parts.
  bool isPart = program.streamAxes.count(axis);
  int64_t senders = isPart ? 1 : sizeOfAxis(program, axis);
  double seconds = secondsOfMessage(bytes / static_cast<double>(senders), rank,
                                    group[*call.peer], cluster);
  GroupPlace near{senders, 1, senders};
  return seconds +
         secondsOfCollective(Collective::AllGather, bytes, near, cluster);
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
           secondsOfBytes(
               static_cast<double>(call.bytes) *
                   scaleOfKernel(call, program.stages[stage], cluster.software),
               device);
  case CallKind::Product:
    return device.launch + secondsOfProduct(call, program, cluster);
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return device.launch + secondsOfAttention(call, program, cluster);
  case CallKind::Collective:
    if (call.collective == Collective::Zigzag && cluster.software.hasZigzagData)
      return 0;
    return secondsOfCollective(
        call.collective, bytesMoved(call, program, cluster),
        placeOf(program.groupOf(rank, call.meshAxes), cluster), cluster);
  case CallKind::Send:
  case CallKind::Receive:
    return secondsToPeer(call, program, rank, cluster);
  case CallKind::Wait:
    return 0;
  }
  return 0;
}
