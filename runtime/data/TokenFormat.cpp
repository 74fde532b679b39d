#include "runtime/data/TokenFormat.h"

#include "runtime/data/TokenSample.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <memory>

namespace tessera {

static bool hasSuffix(const std::string &path, std::string_view suffix) {
  return path.size() >= suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string sampleOf(const InputFile &file) {
  std::string bytes(std::min<uint64_t>(file.size(), sampleBytes), '\0');
  file.read(0, bytes.data(), bytes.size());
  return bytes;
}

/// Returns a file without a header.
static TokenFormat rawFormat(const InputFile &file, int64_t width) {
  auto size = static_cast<int64_t>(file.size());
  if (size % width != 0)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", size,
         " bytes, not a multiple of the ", width,
         " bytes of a token; it is torn, or not of uint", 8 * width,
         ": say what it holds with --data-format");
  TokenFormat format;
  format.width = width;
  format.count = size / width;
  return format;
}

/// The formats of files without a header would read the header as tokens.
static void refuseHeader(const InputFile &file, const std::string &asked,
                         const char *what) {
  if (asked != "auto")
    fail(TSR_INVALID_ARGUMENT, "'", file.path(), "' ", what, ", which format '",
         asked, "' would misread; use --data-format auto");
}

//===----------------------------------------------------------------------===//
// Files that do not say what they are
//===----------------------------------------------------------------------===//

/// Refuses a file that is taken for text because of its name alone, unless it
/// is one.
static void refuseUnlessText(const InputFile &file, const std::string &sample) {
  const std::string &path = file.path();
  for (const char *suffix : {".json", ".jsonl", ".ndjson"})
    if (hasSuffix(path, suffix))
      fail(TSR_INVALID_ARGUMENT, "'", path,
           "' is JSON, not tokens; tokenize its texts, or use --data-format "
           "text to train on its bytes, braces and all");
  size_t zero = sample.find('\0');
  if (zero != std::string::npos)
    fail(TSR_INVALID_ARGUMENT, "'", path, "' is not text (byte ", zero, " of ",
         file.size(),
         " is 0) and not named .bin; use --data-format uint16, uint32 or text");
}

/// Refuses a file that is taken for uint16 because of its name alone, unless it
/// is that.
static void refuseUnlessUint16(const InputFile &file, const std::string &sample,
                               int64_t vocabulary) {
  auto refuse = [&](const char *what, const char *remedy) {
    fail(TSR_INVALID_ARGUMENT, "'", file.path(), "' looks like ", what,
         " in its first ", sample.size(), " bytes, not like uint16 below ",
         vocabulary, "; ", remedy,
         ", or --data-format uint16 if it is that nevertheless");
  };
  if (isLikeInt64(sample))
    refuse("int64 (every second uint32 is 0)",
           "save tokens.astype('<u4') and use --data-format uint32");
  if (isLikeUint32(sample, vocabulary))
    refuse(vocabulary > 1 << 16 ? "uint32 (every second uint16 is small)"
                                : "uint32 (every second uint16 is 0)",
           "use --data-format uint32");
  if (isLikeText(sample))
    refuse("text", "use --data-format text");
}

//===----------------------------------------------------------------------===//
// Any file
//===----------------------------------------------------------------------===//

static bool isIndex(const InputFile &file) {
  std::string sample = sampleOf(file);
  return MegatronIndex::isIndex(sample) || MegatronIndex::isTornIndex(sample);
}

/// Returns the same path with another suffix of four characters.
static std::string withSuffix(const std::string &path, const char *suffix) {
  return path.substr(0, path.size() - 4) + suffix;
}

/// Returns the `.idx` file beside a `.bin` file, or "".
static std::string findIndex(const InputFile &file) {
  if (!hasSuffix(file.path(), ".bin"))
    return "";
  std::string path = withSuffix(file.path(), ".idx");
  try {
    return isIndex(InputFile(path)) ? path : "";
  } catch (const Error &error) {
    if (error.status.code != TSR_NOT_FOUND)
      throw;
    return "";
  }
}

std::string findTokens(const std::string &path, const std::string &asked) {
  if (!hasSuffix(path, ".idx") || asked == "text" || !isIndex(InputFile(path)))
    return path;
  std::string tokens = withSuffix(path, ".bin");
  if (!isFile(tokens))
    fail(TSR_NOT_FOUND, "'", path, "' is the index of Megatron data, but '",
         tokens, "' with its tokens is missing; put it beside the index");
  return tokens;
}

static void refuseIndex(const InputFile &file, const std::string &sample) {
  if (MegatronIndex::isIndex(sample))
    fail(TSR_INVALID_ARGUMENT, "'", file.path(),
         "' is the index of Megatron data, without tokens; name it .idx, "
         "beside the .bin file of the same name");
}

static TokenFormat megatronFormat(const InputFile &file,
                                  const std::string &path,
                                  const std::string &asked) {
  auto index = std::make_shared<const MegatronIndex>(path, file);
  TokenFormat format;
  format.width = index->width();
  format.count = index->tokens();
  format.isStated = true;
  format.isSigned = index->isSigned();
  format.index = index;
  if (asked != "auto" && asked != concat("uint", 8 * format.width))
    fail(TSR_INVALID_ARGUMENT, "'", path, "' says that '", file.path(),
         "' has tokens of ", format.width, " bytes, which format '", asked,
         "' would misread; use --data-format auto");
  return format;
}

/// Finds the format of a file that is not asked to be text.
static TokenFormat formatOfTokens(const InputFile &file,
                                  const std::string &asked,
                                  int64_t vocabulary) {
  std::string sample = sampleOf(file);
  if (asked == "llmc")
    return readLlmc(file);
  if (isLlmc(sample)) {
    refuseHeader(file, asked, "has a header of llm.c");
    return readLlmc(file);
  }
  if (isNumpy(sample)) {
    refuseHeader(file, asked, "is a NumPy array");
    return readNumpy(file);
  }
  refuseIndex(file, sample);
  refuseForeign(file, sample);
  if (std::string index = findIndex(file); !index.empty())
    return megatronFormat(file, index, asked);
  if (asked == "auto" && !hasSuffix(file.path(), ".bin")) {
    refuseUnlessText(file, sample);
    return rawFormat(file, 1);
  }
  if (asked == "auto")
    refuseUnlessUint16(file, sample, vocabulary);
  return rawFormat(file, asked == "uint32" ? 4 : 2);
}

TokenFormat findFormat(const InputFile &file, const std::string &asked,
                       int64_t vocabulary) {
  const char *known[] = {"auto", "text", "uint16", "uint32", "llmc"};
  if (std::find(std::begin(known), std::end(known), asked) == std::end(known))
    fail(TSR_INVALID_ARGUMENT, "'", asked,
         "' is no data format; use auto, text, uint16, uint32 or llmc");
  TokenFormat format = asked == "text"
                           ? rawFormat(file, 1)
                           : formatOfTokens(file, asked, vocabulary);
  if (format.count == 0)
    fail(TSR_INVALID_ARGUMENT, "'", file.path(), "' has ", file.size(),
         " bytes and 0 tokens; leave it out or write it again");
  return format;
}

} // namespace tessera
