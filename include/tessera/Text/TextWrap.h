//===- TextWrap.h - text in lines of a width --------------------*- C++ -*-===//

#ifndef TESSERA_TEXT_TEXTWRAP_H
#define TESSERA_TEXT_TEXTWRAP_H

#include <cstddef>
#include <string>
#include <vector>

namespace tessera {

/// Columns of a terminal of which nothing else is known.
inline constexpr size_t kTerminalWidth = 80;

/// Returns the lines of at most `width` (at least 1) characters, the first one
/// of `extra` more, broken at spaces. A longer word is broken after one of
/// ".,/|-_" in it, or anywhere. Never empty.
std::vector<std::string> wrapLines(const std::string &text, size_t width,
                                   size_t extra = 0);

/// The same as one text, without a line break at the end. Lines after the first
/// are indented and count the indentation.
std::string wrapText(const std::string &text, size_t width, size_t indent);
/// The first line too counts the indentation: the caller has written it.
std::string wrapBlock(const std::string &text, size_t width, size_t indent);

} // namespace tessera

#endif // TESSERA_TEXT_TEXTWRAP_H
