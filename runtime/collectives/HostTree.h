//===- HostTree.h - which sums each host can make alone ---------*- C++ -*-===//
// Sums add neighbours first: the members of a group are the leaves of a
// balanced tree (Reduce.h). A host can make the sum of each subtree whose
// leaves all lie on it, and no byte of these leaves needs to leave it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_HOSTTREE_H
#define TESSERA_RUNTIME_COLLECTIVES_HOSTTREE_H

#include "runtime/collectives/Reduce.h"

#include <cstdint>
#include <vector>

namespace tessera {

/// A subtree: the members [begin, begin + size).
struct TreeNode {
  int64_t begin = 0, size = 0;

  bool isSum() const { return size > 1; }
};

/// Returns how a tree of `leaves` is summed from the nodes that cover it, in
/// order.
std::vector<PartialSums::Source> sumsOf(const std::vector<TreeNode> &cover,
                                        TreeNode root);

class HostTree {
public:
  HostTree() = default;
  /// Makes the tree of a group, which has members; `hosts` names the host of
  /// each member.
  explicit HostTree(const std::vector<int64_t> &hosts);

  int64_t size() const { return static_cast<int64_t>(hostOfMember.size()); }
  int64_t hosts() const { return static_cast<int64_t>(byHost.size()); }
  /// Returns whether several members share a host, and not all do.
  bool savesTraffic() const { return hosts() > 1 && hosts() < size(); }

  /// Hosts are numbered in the order of their first members.
  int64_t hostOf(int64_t member) const { return hostOfMember[member]; }
  const std::vector<int64_t> &membersOf(int64_t host) const {
    return byHost[host];
  }
  /// Returns the largest subtrees that lie on a host, in order.
  const std::vector<TreeNode> &nodesOf(int64_t host) const {
    return nodes[host];
  }
  /// Returns the member of a host that sums, or spreads, what belongs to a
  /// member of another host. A host's members share this work.
  int64_t deputyOf(int64_t host, int64_t member) const;

private:
  void addNodes(TreeNode node);

  std::vector<int64_t> hostOfMember;
  std::vector<std::vector<int64_t>> byHost;
  std::vector<std::vector<TreeNode>> nodes;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_HOSTTREE_H
