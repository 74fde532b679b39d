//===- TextWrap.cpp - text in lines of a width ----------------------------===//

#include "tools/tessera/options/TextWrap.h"
#include <algorithm>
#include <sstream>

using namespace tessera;

/// How much of a word that is longer than `width` goes into a line.
static size_t headOf(const std::string &word, size_t width) {
  size_t last = word.find_last_of(".,/|-", width - 1);
  return last == std::string::npos || last == 0 ? width : last + 1;
}

std::vector<std::string> tessera::wrapLines(const std::string &text,
                                            size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  std::string word;
  while (words >> word) {
    size_t space = lines.back().empty() ? 0 : 1;
    if (space && lines.back().size() + space + word.size() > width) {
      lines.emplace_back();
      space = 0;
    }
    lines.back() += (space ? " " : "") + word;
    while (lines.back().size() > width) {
      size_t head = headOf(lines.back(), width);
      std::string rest = lines.back().substr(head);
      lines.back().resize(head);
      lines.push_back(rest);
    }
  }
  return lines;
}

std::string tessera::wrapText(const std::string &text, size_t width,
                              size_t indent) {
  // The first line stands where the caller has begun it.
  std::vector<std::string> lines =
      wrapLines(text, std::max<size_t>(width - indent, 1));
  std::string all = lines.front();
  for (size_t k = 1; k < lines.size(); ++k)
    all += "\n" + std::string(indent, ' ') + lines[k];
  return all;
}
