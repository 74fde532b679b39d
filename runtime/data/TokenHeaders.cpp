//===- TokenHeaders.cpp - headers of llm.c and NumPy ----------------------===//
#include "runtime/data/HeaderInteger.h"
#include "runtime/data/TokenFormat.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tessera {

static bool beginsWith(std::string_view head, std::string_view magic) {
  return head.substr(0, magic.size()) == magic;
}

//===----------------------------------------------------------------------===//
// llm.c: 256 int32 (magic, version, tokens), then the tokens
//===----------------------------------------------------------------------===//

namespace {
struct LlmcKind {
  int32_t magic, version;
  int64_t width;
  const char *what;
};

constexpr LlmcKind llmcKinds[] = {{20240520, 1, 2, "GPT-2 tokens in uint16"},
                                  {20240801, 7, 4, "LLaMA 3 tokens in uint32"}};
constexpr int64_t llmcHeaderBytes = 1024;
} // namespace

static const LlmcKind *findLlmcKind(std::string_view head) {
  int32_t magic = 0;
  if (head.size() >= sizeof magic)
    std::memcpy(&magic, head.data(), sizeof magic);
  for (const LlmcKind &kind : llmcKinds)
    if (kind.magic == magic)
      return &kind;
  return nullptr;
}

bool isLlmc(std::string_view head) { return findLlmcKind(head); }

TokenFormat readLlmc(const InputFile &file) {
  auto size = static_cast<int64_t>(file.size());
  const LlmcKind *kind = findLlmcKind(sampleOf(file));
  if (size < llmcHeaderBytes || !kind)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", size,
         " bytes and no llm.c header (", llmcHeaderBytes,
         " bytes that begin with ", llmcKinds[0].magic, " or ",
         llmcKinds[1].magic, "); use --data-format uint16 or uint32");
  auto version = integerAt<int32_t>(file, 4);
  if (version != kind->version)
    fail(TSR_CORRUPT, "'", file.path(), "' is llm.c data of version ", version,
         ", supported with magic ", kind->magic, " is ", kind->version, " (",
         kind->what, "); write it again");
  TokenFormat format;
  format.width = kind->width;
  format.skipped = llmcHeaderBytes;
  format.count = integerAt<int32_t>(file, 8);
  format.isStated = true;
  int64_t bytes = size - llmcHeaderBytes;
  if (format.count * kind->width != bytes)
    fail(TSR_CORRUPT, "'", file.path(), "' says it has ", format.count,
         " tokens, its ", size, " bytes hold ", bytes / kind->width,
         bytes % kind->width ? " and a part of one" : "",
         "; it is torn, write it again");
  return format;
}

//===----------------------------------------------------------------------===//
// NumPy: a text that describes the array, then the array (NEP 1)
//===----------------------------------------------------------------------===//

static constexpr std::string_view numpyMagic = "\x93NUMPY";

bool isNumpy(std::string_view head) { return beginsWith(head, numpyMagic); }

/// Returns the dictionary in the header; `out_end` is the first byte of the
/// array.
static std::string numpyText(const InputFile &file, int64_t &out_end) {
  constexpr uint32_t longest = 1 << 15;
  uint64_t begin = numpyMagic.size() + 2;
  if (file.size() < begin + 4)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes, a NumPy header has more than ", begin + 4,
         "; it is torn, write it again");
  bool isOld = integerAt<uint8_t>(file, numpyMagic.size()) == 1;
  uint32_t length = isOld ? integerAt<uint16_t>(file, begin)
                          : integerAt<uint32_t>(file, begin);
  begin += isOld ? 2 : 4;
  if (length > longest || begin + length > file.size())
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes and a NumPy header of ", length, ", of which at most ",
         longest, " are read; it is torn, write it again");
  std::string text(length, '\0');
  file.read(begin, text.data(), length);
  out_end = static_cast<int64_t>(begin + length);
  return text;
}

/// Makes a text from outside fit to be shown.
static std::string shownText(std::string text) {
  constexpr size_t longest = 100;
  text.resize(
      std::min({text.find_last_not_of(" \n") + 1, text.size(), longest}));
  for (char &c : text)
    c = c < ' ' || c > '~' ? '?' : c;
  return text;
}

TokenFormat readNumpy(const InputFile &file) {
  TokenFormat format;
  format.isStated = true;
  std::string text = numpyText(file, format.skipped);
  char type[4] = "", order[6] = "";
  long long count = -1;
  int end = 0;
  std::sscanf(text.c_str(),
              "{'descr': '%3[^']', 'fortran_order': %5[A-Za-z], "
              "'shape': (%18lld,), }%n",
              type, order, &count, &end);
  std::string_view known = type;
  bool isShort = known == "<u2";
  if (end == 0 || count < 0 || (!isShort && known != "<u4" && known != "<i4"))
    fail(TSR_INVALID_ARGUMENT, "'", file.path(), "' is a NumPy array of ",
         shownText(text),
         "; tokens are one dimension of '<u2', '<u4' or '<i4': save "
         "tokens.ravel().astype('<u4')");
  format.width = isShort ? 2 : 4;
  format.isSigned = known == "<i4";
  format.count = count;
  int64_t bytes = static_cast<int64_t>(file.size()) - format.skipped;
  if (count != bytes / format.width || bytes % format.width != 0)
    fail(TSR_CORRUPT, "'", file.path(), "' says it has ", count, " tokens of ",
         format.width, " bytes, after its header are ", bytes,
         " bytes; it is torn, write it again");
  return format;
}

} // namespace tessera
