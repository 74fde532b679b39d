//===- TokenHeaders.cpp - headers of llm.c, NumPy and Megatron ------------===//
#include "runtime/data/TokenFormat.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tessera {

/// A little-endian integer of a header, which must lie in the file.
template <class Integer>
static Integer integerAt(const InputFile &file, uint64_t offset) {
  Integer value;
  file.read(offset, &value, sizeof value);
  return value;
}

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
  TokenFormat format{kind->width, llmcHeaderBytes, integerAt<int32_t>(file, 8),
                     true};
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

/// The dictionary in the header; `out_end` is the first byte of the array.
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

/// What can be shown of a stranger's text.
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
  format.count = count;
  int64_t bytes = static_cast<int64_t>(file.size()) - format.skipped;
  if (count != bytes / format.width || bytes % format.width != 0)
    fail(TSR_CORRUPT, "'", file.path(), "' says it has ", count, " tokens of ",
         format.width, " bytes, after its header are ", bytes,
         " bytes; it is torn, write it again");
  return format;
}

//===----------------------------------------------------------------------===//
// Megatron: an index of documents beside the tokens
//===----------------------------------------------------------------------===//

// Magic, version (u64), type (u8), sequences (u64), documents (u64); then of
// each sequence its length (i32), of each where it begins (i64), and of each
// document its first sequence (i64).
static constexpr std::string_view megatronMagic("MMIDIDX\0\0", 9);
static constexpr uint64_t megatronHeaderBytes = 34;

bool isMegatronIndex(std::string_view head) {
  return beginsWith(head, megatronMagic);
}

static int64_t megatronWidth(const InputFile &index) {
  constexpr uint8_t uint8Code = 1, int32Code = 4, uint16Code = 8;
  auto code = integerAt<uint8_t>(index, 17);
  switch (code) {
  case uint8Code:
    return 1;
  case uint16Code:
    return 2;
  case int32Code:
    return 4;
  }
  fail(TSR_INVALID_ARGUMENT, "'", index.path(),
       "' says that tokens are of type ", int(code),
       ", supported are 1 (uint8), 4 (int32) and 8 (uint16); write "
       "the data again");
}

/// Bytes up to the end of the last sequence.
static uint64_t megatronBytes(const InputFile &index, int64_t width) {
  auto sequences = integerAt<uint64_t>(index, 18);
  uint64_t most = (index.size() - megatronHeaderBytes) / 12;
  if (sequences > most)
    fail(TSR_CORRUPT, "'", index.path(), "' says it has ", sequences,
         " sequences, its ", index.size(), " bytes hold at most ", most,
         "; it is torn, write the data again");
  if (sequences == 0)
    return 0;
  uint64_t last = sequences - 1, pointers = megatronHeaderBytes + 4 * sequences;
  auto length = integerAt<int32_t>(index, megatronHeaderBytes + 4 * last);
  auto begin = integerAt<uint64_t>(index, pointers + 8 * last);
  return begin + static_cast<uint64_t>(length) * static_cast<uint64_t>(width);
}

TokenFormat readMegatron(const InputFile &index, const InputFile &tokens) {
  uint64_t version = 0;
  if (index.size() >= megatronHeaderBytes)
    version = integerAt<uint64_t>(index, megatronMagic.size());
  if (version != 1)
    fail(TSR_CORRUPT, "'", index.path(), "' has ", index.size(),
         " bytes and version ", version, ", an index has at least ",
         megatronHeaderBytes, " and version 1; write the data again");
  TokenFormat format;
  format.isStated = true;
  format.width = megatronWidth(index);
  uint64_t bytes = megatronBytes(index, format.width);
  if (bytes != tokens.size() || bytes % format.width != 0)
    fail(TSR_CORRUPT, "'", index.path(), "' says that '", tokens.path(),
         "' has ", bytes, " bytes, it has ", tokens.size(), " (of tokens of ",
         format.width, "); they are not of one data set, or one is torn");
  format.count = static_cast<int64_t>(bytes) / format.width;
  return format;
}

} // namespace tessera
