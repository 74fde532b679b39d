//===- MinimumCut.h - the cheapest values between two sides -----*- C++ -*-===//
// Finds the vertices of a directed graph that separate the sources from the
// sinks at the least cost (Ford and Fulkerson 1956, with the
// shortest augmenting paths of Edmonds and Karp 1972).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TRAIN_MINIMUMCUT_H
#define TESSERA_LIB_TRAIN_MINIMUMCUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tessera {

class MinimumCut {
public:
  explicit MinimumCut(llvm::ArrayRef<int64_t> costs);

  void addEdge(unsigned from, unsigned to);
  void addSource(unsigned vertex);
  void addSink(unsigned vertex);

  /// Finds the cut; if several are cheapest, this is the one nearest to the
  /// sinks.
  void solve();
  /// Returns whether the vertex is part of the cut.
  bool isCut(unsigned vertex) const;
  /// Returns whether the vertex lies between the cut and the sinks.
  bool isBehind(unsigned vertex) const;

private:
  struct Arc {
    unsigned to;
    int64_t left; ///< The flow that is left; its reverse is the arc number ^ 1.
  };
  void addArc(unsigned from, unsigned to, int64_t capacity);
  bool augment();
  void findSinkSide();

  unsigned source, sink;
  std::vector<Arc> arcs;
  std::vector<llvm::SmallVector<unsigned, 4>> out; ///< Arcs by node.
  std::vector<bool> sinkSide;                      ///< Indexed by node.
};

} // namespace tessera

#endif // TESSERA_LIB_TRAIN_MINIMUMCUT_H
