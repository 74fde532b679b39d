//===- MinimumCut.cpp - the cheapest values between two sides -------------===//
// Vertex v is an arc from node 2v to node 2v + 1, whose capacity is its cost.
//===----------------------------------------------------------------------===//

#include "lib/Train/MinimumCut.h"
#include <algorithm>
#include <limits>

using namespace tessera;

static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
static constexpr unsigned kNone = ~0u;

MinimumCut::MinimumCut(llvm::ArrayRef<int64_t> costs)
    : source(2 * costs.size()), sink(source + 1), out(sink + 1) {
  for (unsigned vertex = 0; vertex < costs.size(); ++vertex)
    addArc(2 * vertex, 2 * vertex + 1, costs[vertex]);
}

void MinimumCut::addArc(unsigned from, unsigned to, int64_t capacity) {
  out[from].push_back(arcs.size());
  arcs.push_back({to, capacity});
  out[to].push_back(arcs.size());
  arcs.push_back({from, 0});
}

void MinimumCut::addEdge(unsigned from, unsigned to) {
  addArc(2 * from + 1, 2 * to, kUnlimited);
}
void MinimumCut::addSource(unsigned vertex) {
  addArc(source, 2 * vertex, kUnlimited);
}
void MinimumCut::addSink(unsigned vertex) {
  addArc(2 * vertex + 1, sink, kUnlimited);
}

/// Sends as much as a shortest path carries; false if there is no path.
bool MinimumCut::augment() {
  std::vector<unsigned> cameBy(out.size(), kNone);
  std::vector<unsigned> queue = {source};
  for (size_t next = 0; next < queue.size() && cameBy[sink] == kNone; ++next)
    for (unsigned arc : out[queue[next]]) {
      unsigned to = arcs[arc].to;
      if (arcs[arc].left == 0 || cameBy[to] != kNone || to == source)
        continue;
      cameBy[to] = arc;
      queue.push_back(to);
    }
  if (cameBy[sink] == kNone)
    return false;
  int64_t flow = kUnlimited;
  for (unsigned node = sink; node != source; node = arcs[cameBy[node] ^ 1].to)
    flow = std::min(flow, arcs[cameBy[node]].left);
  for (unsigned node = sink; node != source; node = arcs[cameBy[node] ^ 1].to) {
    arcs[cameBy[node]].left -= flow;
    arcs[cameBy[node] ^ 1].left += flow;
  }
  return true;
}

/// Finds the nodes from which something could still flow to the sink.
void MinimumCut::findSinkSide() {
  sinkSide.assign(out.size(), false);
  sinkSide[sink] = true;
  std::vector<unsigned> queue = {sink};
  for (size_t next = 0; next < queue.size(); ++next)
    for (unsigned arc : out[queue[next]]) {
      unsigned from = arcs[arc].to;
      if (arcs[arc ^ 1].left == 0 || sinkSide[from])
        continue;
      sinkSide[from] = true;
      queue.push_back(from);
    }
}

void MinimumCut::solve() {
  while (augment()) {
  }
  findSinkSide();
}

bool MinimumCut::isCut(unsigned vertex) const {
  return !sinkSide[2 * vertex] && sinkSide[2 * vertex + 1];
}

bool MinimumCut::isBehind(unsigned vertex) const {
  return sinkSide[2 * vertex];
}
