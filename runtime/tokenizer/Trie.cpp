#include "runtime/tokenizer/Trie.h"

#include <algorithm>
#include <deque>

namespace tessera {

namespace {
/// The texts of a node, which have its first bytes in common.
struct Group {
  uint32_t node;
  size_t begin, end, depth;
};
} // namespace

Trie::Trie(std::vector<Entry> entries) : nodes(1) {
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const Entry &a, const Entry &b) { return a.first < b.first; });
  std::deque<Group> groups = {{0, 0, entries.size(), 0}};
  for (; !groups.empty(); groups.pop_front()) {
    auto [node, begin, end, depth] = groups.front();
    while (begin < end && entries[begin].first.size() == depth)
      nodes[node].value = entries[begin++].second;
    nodes[node].firstChild = static_cast<uint32_t>(nodes.size());
    while (begin < end) {
      char label = entries[begin].first[depth];
      size_t next = begin;
      while (next < end && entries[next].first[depth] == label)
        ++next;
      groups.push_back(
          {static_cast<uint32_t>(nodes.size()), begin, next, depth + 1});
      Node child;
      child.label = static_cast<unsigned char>(label);
      nodes.push_back(child);
      ++nodes[node].children;
      begin = next;
    }
  }
}

} // namespace tessera
