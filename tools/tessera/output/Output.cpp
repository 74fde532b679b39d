//===- Output.cpp - what the driver prints --------------------------------===//

#include "tools/tessera/output/Output.h"
#include "llvm/Support/Format.h"
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace tessera;

static void writeTo(FILE *file, StringRef text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

namespace {

/// Writes to a file of the C library what is left after escaping.
class PrintableStream : public raw_ostream {
public:
  explicit PrintableStream(FILE *file)
      : raw_ostream(/*unbuffered=*/true), file(file) {}

  /// Writes the start of a character whose end has not come.
  void finish() {
    std::lock_guard<std::mutex> lock(mutex);
    writeTo(file, parts.finish());
  }

private:
  void write_impl(const char *bytes, size_t size) override {
    std::lock_guard<std::mutex> lock(
        mutex); // MLIR reports from several threads
    writeTo(file, parts.push({bytes, size}));
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  FILE *file;
  uint64_t written = 0;
  PrintableParts parts;
  std::mutex mutex;
};

} // namespace

static PrintableStream &outputStream() {
  static PrintableStream stream(stdout);
  return stream;
}

raw_ostream &tessera::standardOutput() { return outputStream(); }

raw_ostream &tessera::standardError() {
  static PrintableStream stream(stderr);
  return stream;
}

void tessera::printFormatted(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(std::vsnprintf(nullptr, 0, format, arguments), '\0');
  va_end(arguments);
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  standardOutput() << text;
}

void tessera::printModelText(StringRef text) {
  static const bool isTerminal = isatty(STDOUT_FILENO);
  if (isTerminal)
    standardOutput() << text;
  else
    writeTo(stdout, text);
}

/// Writes hidden characters as \\uXXXX. Beyond ASCII, and as a delete, they are
/// in strings only; what JSON itself escapes is escaped already.
static std::string escapedInJson(StringRef text) {
  std::string result;
  raw_string_ostream stream(result);
  while (!text.empty()) {
    tessera::detail::Character next = tessera::detail::firstCharacter(text);
    if (next.code < 0x7f ||
        tessera::detail::isPrinted(next.code, Printed::Text)) {
      stream << text.take_front(next.length);
    } else if (next.code < 0x10000) {
      stream << format("\\u%04x", next.code);
    } else {
      uint32_t rest = next.code - 0x10000;
      stream << format("\\u%04x\\u%04x", 0xd800 + (rest >> 10),
                       0xdc00 + (rest & 0x3ff));
    }
    text = text.drop_front(next.length);
  }
  return result;
}

void tessera::printJson(const json::Value &value, unsigned indent) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream(stream, indent).value(value);
  standardOutput() << escapedInJson(text) << "\n";
}

void tessera::printOverLine(StringRef line) {
  writeTo(stdout, "\r" + printable(line) + "\033[K");
}

void tessera::flushOutput() { std::fflush(stdout); }

std::error_code tessera::finishOutput() {
  outputStream().finish();
  bool hasFailed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0)
    return std::error_code(errno, std::generic_category());
  return hasFailed ? std::make_error_code(std::errc::io_error)
                   : std::error_code();
}
