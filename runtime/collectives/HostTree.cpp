#include "runtime/collectives/HostTree.h"

#include <algorithm>
#include <map>

namespace tessera {

/// Returns the left part of a tree: the largest power of two below its size.
static TreeNode leftOf(TreeNode node) {
  int64_t size = 1;
  while (2 * size < node.size)
    size *= 2;
  return {node.begin, size};
}

static TreeNode rightOf(TreeNode node) {
  TreeNode left = leftOf(node);
  return {left.begin + left.size, node.size - left.size};
}

/// Walks the tree from left to right; each inner node that is no part of the
/// cover adds a sum after the last source below it.
static void addSums(const std::vector<TreeNode> &cover, TreeNode node,
                    std::vector<PartialSums::Source> &sources) {
  const TreeNode &next = cover[sources.size()];
  if (next.begin == node.begin && next.size == node.size) {
    sources.push_back({next.isSum(), 0});
    return;
  }
  addSums(cover, leftOf(node), sources);
  addSums(cover, rightOf(node), sources);
  sources.back().adds += 1;
}

std::vector<PartialSums::Source> sumsOf(const std::vector<TreeNode> &cover,
                                        TreeNode root) {
  std::vector<PartialSums::Source> sources;
  addSums(cover, root, sources);
  return sources;
}

HostTree::HostTree(const std::vector<int64_t> &names) {
  std::map<int64_t, int64_t> numbers;
  for (int64_t name : names) {
    auto number = static_cast<int64_t>(numbers.size());
    hostOfMember.push_back(numbers.emplace(name, number).first->second);
  }
  byHost.resize(numbers.size());
  nodes.resize(numbers.size());
  for (int64_t member = 0; member < size(); ++member)
    byHost[hostOf(member)].push_back(member);
  addNodes({0, size()});
}

void HostTree::addNodes(TreeNode node) {
  int64_t host = hostOf(node.begin);
  auto isThere = [&](int64_t at) { return at == host; };
  auto first = hostOfMember.begin() + node.begin;
  if (std::all_of(first, first + node.size, isThere)) {
    nodes[host].push_back(node);
    return;
  }
  addNodes(leftOf(node));
  addNodes(rightOf(node));
}

int64_t HostTree::deputyOf(int64_t host, int64_t member) const {
  // The members of other hosts take turns.
  const std::vector<int64_t> &own = membersOf(host);
  int64_t before =
      std::lower_bound(own.begin(), own.end(), member) - own.begin();
  return own[static_cast<size_t>(member - before) % own.size()];
}

} // namespace tessera
