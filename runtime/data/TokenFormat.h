//===- TokenFormat.h - how a file holds its tokens --------------*- C++ -*-===//
// Most files of tokens do not say what they are, and a wrong guess trains on
// noise without an error. So what a file does say is believed, and one that
// says otherwise than was asked for is refused. What a file only looks like
// counts where no format was asked for.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_TOKENFORMAT_H
#define TESSERA_RUNTIME_DATA_TOKENFORMAT_H

#include "runtime/data/MegatronIndex.h"
#include "runtime/support/File.h"

#include <memory>
#include <string>
#include <string_view>

namespace tessera {

/// `count` little-endian integers of `width` bytes, after `skipped` bytes.
struct TokenFormat {
  int64_t width = 1;
  int64_t skipped = 0;
  int64_t count = 0;
  bool isStated = false; ///< A header says so.
  bool isSigned = false;
  std::shared_ptr<const MegatronIndex> index; ///< Index of documents, or null.
};

/// The sample of a file by which its format is found.
constexpr int64_t sampleBytes = 1 << 16;
std::string sampleOf(const InputFile &file);

/// Returns the file that holds the tokens: `path`, or the .bin file beside it
/// if it is the .idx file of Megatron data. TSR_NOT_FOUND: there is none.
std::string findTokens(const std::string &path, const std::string &asked);

/// Finds how `file` holds ids below `vocabulary`. `asked` is a format as users
/// name it. TSR_CORRUPT: a torn file; TSR_INVALID_ARGUMENT: an unknown format,
/// or a file that is not of it.
TokenFormat findFormat(const InputFile &file, const std::string &asked,
                       int64_t vocabulary);

// Each pair recognizes a header, given the beginning of a file as `head`, and
// reads it. TSR_CORRUPT: the file does not have the length that its header
// says.
bool isLlmc(std::string_view head);
TokenFormat readLlmc(const InputFile &file);
bool isNumpy(std::string_view head);
TokenFormat readNumpy(const InputFile &file);

/// Returns what kind of archive, table or the like a file with this beginning
/// is; null: it is none that is known.
const char *foreignKind(std::string_view head);

/// Refuses archives, tables and the like.
void refuseForeign(const InputFile &file, std::string_view head);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_TOKENFORMAT_H
