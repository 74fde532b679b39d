//===- PrintableTarget.cpp - texts that are printed -----------------------===//
#include "tessera/printable.hpp"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <cstring>

using namespace tessera;
using namespace fuzzed;

/// Requires bytes that no terminal obeys. The text is valid UTF-8, whose C1
/// controls begin with 0xc2, and whose controls of direction with 0xe2.
static void requireVisible(const std::string &text, bool isLine) {
  for (size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const bool breaks = byte == '\n' || byte == '\t';
    require((byte >= 0x20 && byte != 0x7f) || (breaks && !isLine),
            "no control is left");
    require(std::memcmp(&text[k], "\xc2\x9b", 2) != 0 || byte != 0xc2,
            "no control of eight bits is left");
    require(text.compare(k, 3, "\u202e") != 0, "no direction is left");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const std::string line = printable(text),
                    lines = printable(text, Printed::Text);
  requireVisible(line, true);
  requireVisible(lines, false);
  require(line.size() <= 4 * size, "at most four bytes come of one");
  require(printable(line) == line, "what is printable stays");
  PrintableParts parts;
  const size_t cut = size ? data[0] % size : 0;
  std::string joined = parts.push(text.substr(0, cut));
  joined += parts.push(text.substr(cut));
  require(joined + parts.finish() == lines, "parts are the whole");
  requireVisible(printableValue(text), true);
  tsr_set_last_error(TSR_IO, std::string(text).c_str());
  require(std::strlen(tsr_last_error()) < 8192, "a message is short");
  requireVisible(tsr_last_error(), true);
  shellWord(text);
  return 0;
}
