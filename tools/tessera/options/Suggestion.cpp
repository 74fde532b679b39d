//===- Suggestion.cpp - what a mistyped word may have meant ---------------===//

#include "tools/tessera/options/Suggestion.h"
#include <algorithm>

using namespace tessera;

/// The distance of Damerau and Levenshtein, with one edit for each pair.
static size_t distanceOf(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1,
                                         std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        edits[i][k] = i + k;
        continue;
      }
      size_t replaced = edits[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
      edits[i][k] =
          std::min({edits[i - 1][k] + 1, edits[i][k - 1] + 1, replaced});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        edits[i][k] = std::min(edits[i][k], edits[i - 2][k - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

std::string tessera::nearestName(const std::string &word,
                                 const std::vector<std::string> &names) {
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string &name : names)
    if (size_t distance = distanceOf(word, name); distance < least) {
      least = distance;
      nearest = name;
    }
  return nearest;
}
