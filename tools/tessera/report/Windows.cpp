//===- Windows.cpp - what is computed beside communication ----------------===//

#include "tools/tessera/report/Windows.h"
#include <algorithm>

using namespace tessera;

void ProgramWork::add(const Work &work) {
  sums.push_back({sums.back().ops + work.ops, sums.back().flops + work.flops});
}

Work ProgramWork::inside(std::vector<Window> windows) const {
  std::sort(windows.begin(), windows.end(),
            [](const Window &a, const Window &b) { return a.begin < b.begin; });
  Work work;
  int64_t counted = 0; // Calls before this one are counted, or in no window.
  for (const Window &window : windows) {
    int64_t begin = std::max(window.begin, counted);
    int64_t end = std::min(window.end, calls());
    if (begin >= end)
      continue;
    work.ops += sums[end].ops - sums[begin].ops;
    work.flops += sums[end].flops - sums[begin].flops;
    counted = end;
  }
  return work;
}
