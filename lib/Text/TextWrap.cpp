//===- TextWrap.cpp - text in lines of a width ----------------------------===//

#include "tessera/Text/TextWrap.h"
#include <sstream>

using namespace tessera;

/// Returns how much of a word that is longer than `width` goes into a line.
static size_t headOf(const std::string &word, size_t width) {
  size_t last = word.find_last_of(".,/|-_", width - 1);
  return last == std::string::npos || last == 0 ? width : last + 1;
}

std::vector<std::string> tessera::wrapLines(const std::string &text,
                                            size_t width, size_t extra) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  std::string word;
  auto room = [&] { return lines.size() == 1 ? width + extra : width; };
  while (words >> word) {
    size_t space = lines.back().empty() ? 0 : 1;
    if (space && lines.back().size() + space + word.size() > room()) {
      lines.emplace_back();
      space = 0;
    }
    lines.back() += (space ? " " : "") + word;
    while (lines.back().size() > room()) {
      size_t head = headOf(lines.back(), room());
      std::string rest = lines.back().substr(head);
      lines.back().resize(head);
      lines.push_back(rest);
    }
  }
  return lines;
}

static std::string join(const std::vector<std::string> &lines, size_t indent) {
  std::string all = lines.front();
  for (size_t k = 1; k < lines.size(); ++k)
    all += "\n" + std::string(indent, ' ') + lines[k];
  return all;
}

static size_t roomBehind(size_t indent, size_t width) {
  return width > indent ? width - indent : 1;
}

std::string tessera::wrapText(const std::string &text, size_t width,
                              size_t indent) {
  return join(wrapLines(text, roomBehind(indent, width), indent), indent);
}

std::string tessera::wrapBlock(const std::string &text, size_t width,
                               size_t indent) {
  return join(wrapLines(text, roomBehind(indent, width)), indent);
}
