#include "runtime/device/NumaNodes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace tessera {

// The system numbers no more cores than this.
static constexpr int mostCpus = 1 << 16;

std::vector<int> readCpuList(const std::string &text) {
  std::istringstream stream(text);
  std::vector<int> cpus;
  for (int first = 0; stream >> first && first >= 0;) {
    int last = first;
    if (stream.peek() == '-')
      stream.ignore(1) >> last;
    for (int cpu = first; cpu <= std::min(last, mostCpus); ++cpu)
      cpus.push_back(cpu);
    if (stream.peek() != ',')
      break;
    stream.ignore(1);
  }
  return cpus;
}

/// Returns the lists of the directory's nodes, by their numbers.
static std::map<int, std::vector<int>> readNodes(const std::string &directory) {
  std::map<int, std::vector<int>> nodes;
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("node", 0) != 0 || name.size() == 4 ||
        name.find_first_not_of("0123456789", 4) != std::string::npos)
      continue;
    std::ifstream file(entry.path() / "cpulist");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    nodes[std::stoi(name.substr(4))] = readCpuList(text);
  }
  return nodes;
}

NumaNodes numaNodesOf(const std::vector<int> &cores,
                      const std::string &directory) {
  NumaNodes found;
  std::vector<int> rest = cores;
  for (const auto &[number, listed] : readNodes(directory)) {
    std::vector<int> own;
    for (int cpu : listed)
      if (auto at = std::find(rest.begin(), rest.end(), cpu);
          at != rest.end()) {
        own.push_back(cpu);
        rest.erase(at);
      }
    if (!own.empty())
      found.push_back(std::move(own));
  }
  if (!rest.empty())
    found.push_back(std::move(rest));
  return found;
}

/// Returns one of `parts` equal parts.
static std::vector<int> equalPart(const std::vector<int> &cores, int64_t parts,
                                  int64_t part) {
  const auto count = static_cast<int64_t>(cores.size());
  return {cores.begin() + count * part / parts,
          cores.begin() + count * (part + 1) / parts};
}

std::vector<int> shareOfCores(const NumaNodes &nodes, int64_t processes,
                              int64_t process) {
  std::vector<int> all;
  for (const std::vector<int> &node : nodes)
    all.insert(all.end(), node.begin(), node.end());
  const auto count = static_cast<int64_t>(all.size());
  // Nodes get processes by the number of their cores.
  auto processesBefore = [&](int64_t cores) {
    return (2 * processes * cores + count) / (2 * count);
  };
  std::vector<int> share;
  int64_t before = 0;
  for (const std::vector<int> &node : nodes) {
    const auto cores = static_cast<int64_t>(node.size());
    const int64_t first = processesBefore(before),
                  end = processesBefore(before + cores);
    if (end == first || end - first > cores)
      return equalPart(all, processes, process);
    if (process >= first && process < end)
      share = equalPart(node, end - first, process - first);
    before += cores;
  }
  return share;
}

} // namespace tessera
