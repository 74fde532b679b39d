//===- ForeignFile.cpp - files that hold no tokens as they are ------------===//
#include "runtime/data/TokenFormat.h"
#include "runtime/support/Status.h"

#include <cstring>

namespace tessera {

namespace {
struct Foreign {
  std::string_view magic;
  size_t offset;
  const char *what, *remedy;
};

constexpr const char *gzip = "compressed by gzip";
constexpr const char *decompress = "decompress it";
constexpr const char *unpack = "unpack it";
constexpr const char *tokenize =
    "write its tokens as uint16 or uint32, in a .bin or .npy file";

// Each long enough that tokens do not begin so by chance.
constexpr Foreign foreigners[] = {
    {"\x28\xB5\x2F\xFD", 0, "compressed by zstd", decompress},
    {"\xFD\x37zXZ", 0, "compressed by xz", decompress},
    {"1AY&SY", 4, "compressed by bzip2", decompress},
    {"PK\x03\x04", 0, "a zip archive (.npz and .pt files are such)", unpack},
    {"ustar", 257, "a tar archive", unpack},
    {"PAR1", 0, "a Parquet table", tokenize},
    {"ARROW1", 0, "an Arrow table", tokenize},
    {"\x89HDF\r\n\x1A\n", 0, "an HDF5 file", tokenize},
    {"%PDF-", 0, "a PDF document", tokenize},
    {"version https://git-lfs.github.com/spec/", 0,
     "a pointer of Git LFS, not the file that it stands for",
     "fetch that with git lfs pull"},
    {"\x8A\xD8\x34\x01", 0, "a test of llm.c (questions and their answers)",
     "use one of its files of tokens"},
};
} // namespace

/// Recognizes a header of RFC 1952: magic, method 8, no reserved flag; what the
/// method says of itself is 0, 2 or 4 and the system at most 13 or unknown,
/// which two bytes of magic alone would not tell from tokens.
static bool isGzip(std::string_view head) {
  if (head.size() < 18 || head.substr(0, 3) != "\x1F\x8B\x08")
    return false;
  auto byte = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
  bool isKnownSystem = byte(9) <= 13 || byte(9) == 255;
  return byte(3) < 32 && (byte(8) & ~6) == 0 && isKnownSystem;
}

/// A stream, as Hugging Face saves data sets, has no magic: a message begins
/// with 0xFFFFFFFF and the length of what describes it, a multiple of 8.
static bool isArrowStream(std::string_view head, uint64_t size) {
  uint32_t words[2];
  if (head.size() < sizeof words)
    return false;
  std::memcpy(words, head.data(), sizeof words);
  return words[0] == 0xFFFFFFFF && words[1] != 0 && words[1] % 8 == 0 &&
         words[1] < size;
}

static const Foreign *findForeign(std::string_view head) {
  for (const Foreign &kind : foreigners)
    if (head.size() >= kind.offset &&
        head.substr(kind.offset, kind.magic.size()) == kind.magic)
      return &kind;
  return nullptr;
}

const char *foreignKind(std::string_view head) {
  const Foreign *kind = findForeign(head);
  return kind ? kind->what : isGzip(head) ? gzip : nullptr;
}

void refuseForeign(const InputFile &file, std::string_view head) {
  auto refuse = [&](const char *what, const char *remedy) {
    fail(TSR_INVALID_ARGUMENT, "'", file.path(), "' is ", what,
         ", not a file of tokens; ", remedy);
  };
  if (const Foreign *kind = findForeign(head))
    refuse(kind->what, kind->remedy);
  if (isGzip(head))
    refuse(gzip, decompress);
  if (isArrowStream(head, file.size()))
    refuse("an Arrow stream", tokenize);
}

} // namespace tessera
