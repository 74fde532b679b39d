//===- Groups.cpp - where the ranks of a group are, and what they need ----===//
// All groups of an axis are alike and communicate at the same time. So a device
// has its own share of the links of its node: a group with k devices of a node
// has k shares.
//===----------------------------------------------------------------------===//

#include "lib/Simulate/Groups.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace tessera;
using namespace tessera::simulate;

/// Returns how far apart ranks are whose coordinates differ by 1 on an axis.
static int64_t strideOf(const Program &program, size_t axis) {
  int64_t stride = 1;
  for (size_t later = axis + 1; later < program.mesh.size(); ++later)
    stride *= program.mesh[later].size;
  return stride;
}

int64_t Program::firstRankOf(int64_t stage) const {
  return stageAxis < 0 ? 0 : stage * strideOf(*this, stageAxis);
}

int64_t Program::stageOf(int64_t rank) const {
  return stageAxis < 0
             ? 0
             : rank / strideOf(*this, stageAxis) % mesh[stageAxis].size;
}

std::vector<int64_t> Program::groupOf(int64_t rank,
                                      llvm::ArrayRef<size_t> axes) const {
  std::vector<int64_t> group{rank};
  for (size_t axis : axes) {
    int64_t stride = strideOf(*this, axis), size = mesh[axis].size;
    std::vector<int64_t> larger;
    for (int64_t member : group) {
      int64_t first = member - member / stride % size * stride;
      for (int64_t coordinate = 0; coordinate < size; ++coordinate)
        larger.push_back(first + coordinate * stride);
    }
    group = std::move(larger);
  }
  return group;
}

GroupPlace tessera::simulate::placeOf(const std::vector<int64_t> &group,
                                      const Cluster &cluster) {
  std::map<int64_t, int64_t> counts;
  for (int64_t rank : group)
    ++counts[rank / cluster.devicesPerNode];
  GroupPlace place;
  place.ranks = static_cast<int64_t>(group.size());
  place.nodes = static_cast<int64_t>(counts.size());
  place.leastOfNode = place.ranks;
  for (auto [node, count] : counts)
    place.leastOfNode = std::min(place.leastOfNode, count);
  return place;
}

static double efficiencyOf(const Link &link, Collective collective) {
  switch (collective) {
  case Collective::AllGather:
  case Collective::ReduceScatter:
    return link.gatherEfficiency;
  case Collective::AllToAll:
    return link.exchangeEfficiency;
  default:
    return 1;
  }
}

/// Returns the bandwidth by the size of the whole tensor.
static double bandwidthIn(const Link &link, Collective collective,
                          double bytes) {
  double curve = link.collectives.at(bytes);
  return (curve > 0 ? curve : link.bandwidth) * efficiencyOf(link, collective);
}

double tessera::simulate::secondsOfCollective(Collective collective,
                                              double bytes,
                                              const GroupPlace &place,
                                              const Cluster &cluster) {
  double sent = bytes * program::ringShare(collective, place.ranks);
  if (sent == 0)
    return 0;
  bool isShift = collective == Collective::Shift;
  double seconds = cluster.node.latency, bandwidth = 0;
  if (place.leastOfNode > 1 || place.nodes == 1)
    bandwidth = bandwidthIn(cluster.node, collective, bytes);
  if (place.nodes > 1) {
    double across = static_cast<double>(place.leastOfNode) *
                    bandwidthIn(cluster.network, collective, bytes);
    bandwidth = bandwidth > 0 ? std::min(bandwidth, across) : across;
    // A collective runs as a tree over the nodes, there and back; a shift is a
    // message.
    double nodes = static_cast<double>(place.nodes);
    seconds += cluster.network.latency *
               (isShift ? 1 : 2 * std::ceil(std::log2(nodes)));
  }
  return seconds + sent / bandwidth;
}

double tessera::simulate::secondsOfMessage(double bytes, int64_t from,
                                           int64_t to, const Cluster &cluster) {
  bool isNear = from / cluster.devicesPerNode == to / cluster.devicesPerNode;
  const Link &link = isNear ? cluster.node : cluster.network;
  return link.latency + bytes / link.bandwidth;
}
