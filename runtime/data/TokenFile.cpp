#include "runtime/data/TokenFile.h"

#include "runtime/data/TokenSample.h"
#include "runtime/support/Status.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace tessera {

TokenFile::TokenFile(const std::string &path, const std::string &asked,
                     int64_t vocabulary)
    : file(findTokens(path, asked)),
      format(findFormat(file, asked, vocabulary)), vocabulary(vocabulary) {
  checkTokens();
  hashOfSample = hashSample();
}

uint64_t TokenFile::hashSample() const {
  int64_t checked = std::min(count(), sampleBytes / width());
  std::vector<int32_t> tokens(2 * checked);
  read(0, checked, tokens.data());
  read(count() - checked, checked, tokens.data() + checked);
  return hashBytes(tokens.data(), tokens.size() * sizeof(int32_t));
}

/// Returns the number that all legal tokens are below, as unsigned numbers.
static uint64_t limitOf(int64_t vocabulary) {
  return static_cast<uint64_t>(std::min(vocabulary, int64_t(INT32_MAX) + 1));
}

//===----------------------------------------------------------------------===//
// Checking all tokens
//===----------------------------------------------------------------------===//

/// Returns the largest token, where a negative one counts as larger than all
/// others. The loop has no branch, so that it becomes one over vectors.
template <class Integer>
static uint64_t largestOf(const char *bytes, int64_t count) {
  Integer largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    Integer value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof value),
                sizeof value);
    largest = std::max(largest, value);
  }
  return largest;
}

/// Compares in the file's own width, in which the sign of a negative token is
/// the first bit of a large one.
bool TokenFile::areLegal(int64_t position, int64_t count,
                         std::vector<char> &bytes) const {
  bytes.resize(static_cast<size_t>(count * width()));
  file.read(format.skipped + position * width(), bytes.data(), bytes.size());
  uint64_t largest = width() == 1   ? largestOf<uint8_t>(bytes.data(), count)
                     : width() == 2 ? largestOf<uint16_t>(bytes.data(), count)
                     : width() == 4 ? largestOf<uint32_t>(bytes.data(), count)
                                    : largestOf<uint64_t>(bytes.data(), count);
  uint64_t limit = limitOf(vocabulary);
  if (format.isSigned)
    limit = std::min(limit, uint64_t(1) << (8 * width() - 1));
  return largest < limit;
}

namespace {
/// A file as it was when all of its tokens were legal.
struct Checked {
  dev_t device;
  ino_t file;
  off_t bytes;
  int64_t seconds, nanoseconds, vocabulary, width;

  bool operator==(const Checked &other) const {
    return device == other.device && file == other.file &&
           bytes == other.bytes && seconds == other.seconds &&
           nanoseconds == other.nanoseconds && vocabulary == other.vocabulary &&
           width == other.width;
  }
};

/// A long file is not checked twice: one process opens it before a model is
/// compiled and again after.
class CheckedFiles {
public:
  bool has(const Checked &file) {
    std::lock_guard<std::mutex> lock(mutex);
    return std::find(files.begin(), files.end(), file) != files.end();
  }
  void add(const Checked &file) {
    std::lock_guard<std::mutex> lock(mutex);
    files.push_back(file);
  }

private:
  std::mutex mutex;
  std::vector<Checked> files;
};
} // namespace

void TokenFile::checkTokens() const {
  constexpr off_t longBytes = 64 << 20;
  static CheckedFiles checkedFiles;
  struct stat info = {};
  bool isLong = stat(path().c_str(), &info) == 0 && info.st_size >= longBytes;
  Checked own = {info.st_dev,
                 info.st_ino,
                 info.st_size,
                 info.st_mtim.tv_sec,
                 info.st_mtim.tv_nsec,
                 vocabulary,
                 format.isSigned ? -width() : width()};
  if (isLong && checkedFiles.has(own))
    return;
  checkAllTokens();
  if (isLong)
    checkedFiles.add(own);
}

void TokenFile::checkAllTokens() const {
  bool isAnyLegal = !format.isSigned && width() <= 2 &&
                    limitOf(vocabulary) >= uint64_t(1) << (8 * width());
  if (isAnyLegal)
    return;
  constexpr int64_t tokens = 1 << 18; // tokens of a block
  int64_t blocks = (count() + tokens - 1) / tokens;
  std::atomic<int64_t> next = 0, bad = INT64_MAX;
  // Blocks are taken in order: all before a bad one are looked at.
  auto body = [&] {
    std::vector<char> bytes;
    for (int64_t i; bad == INT64_MAX && (i = next++) < blocks;) {
      int64_t first = i * tokens;
      if (areLegal(first, std::min(tokens, count() - first), bytes))
        continue;
      int64_t least = bad;
      while (i < least && !bad.compare_exchange_weak(least, i))
        ;
    }
  };
  auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  ThreadTeam team; // a team for this call alone
  team.run(
      static_cast<int>(std::max<int64_t>(1, std::min(cores, blocks / 16))),
      [](const void *context, int) {
        (*static_cast<const decltype(body) *>(context))();
      },
      &body);
  if (bad == INT64_MAX)
    return;
  int64_t first = bad * tokens, length = std::min(tokens, count() - first);
  std::vector<int32_t> found(static_cast<size_t>(length));
  read(first, length, found.data()); // names the token
  fail(TSR_IO, "'", path(), "' was changed while it is read");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns whether all are below `limit`, which is at most 2^31; negative ones
/// are not. The loop has no branch, so that it becomes one over vectors.
template <class Integer, class Unsigned>
static bool widenAll(const char *bytes, int64_t count, uint64_t limit,
                     int32_t *out) {
  Unsigned largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    Integer value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof value),
                sizeof value);
    auto token = static_cast<Unsigned>(value); // a sign fills what is above
    out[i] = static_cast<int32_t>(token);
    largest = std::max(largest, token);
  }
  return largest < limit;
}

using Widen = bool (*)(const char *, int64_t, uint64_t, int32_t *);

static Widen widenOf(const TokenFormat &format) {
  bool isSigned = format.isSigned;
  switch (format.width) {
  case 1:
    return isSigned ? widenAll<int8_t, uint32_t> : widenAll<uint8_t, uint32_t>;
  case 2:
    return isSigned ? widenAll<int16_t, uint32_t>
                    : widenAll<uint16_t, uint32_t>;
  case 4:
    return isSigned ? widenAll<int32_t, uint32_t>
                    : widenAll<uint32_t, uint32_t>;
  default:
    return widenAll<int64_t, uint64_t>;
  }
}

void TokenFile::read(int64_t position, int64_t count, int32_t *out) const {
  constexpr int64_t most = 2048; // at a time, in memory that costs nothing
  char bytes[most * sizeof(int64_t)];
  Widen widen = widenOf(format);
  const uint64_t limit = limitOf(vocabulary);
  for (int64_t done = 0; done < count; done += most) {
    int64_t length = std::min(count - done, most), first = position + done;
    file.read(format.skipped + first * width(), bytes, length * width());
    if (!widen(bytes, length, limit, out + done))
      refuseAmong(bytes, first, length);
  }
}

uint64_t TokenFile::contentHash(HashThreads threads,
                                const std::atomic<bool> &stops) const {
  constexpr int64_t most = int64_t(1) << 18; // part of what the hash means
  Widen widen = widenOf(format);
  auto hashOf = [&](int64_t block) {
    if (stops)
      fail(TSR_ABORTED, "nobody waits for the hash of '", path(), "'");
    int64_t first = block * most, length = std::min(most, count() - first);
    std::vector<char> bytes(length * width());
    std::vector<int32_t> tokens(length);
    file.read(format.skipped + first * width(), bytes.data(), bytes.size());
    (void)widen(bytes.data(), length, UINT64_MAX, tokens.data());
    return hashBytes(tokens.data(), tokens.size() * sizeof(int32_t));
  };
  return hashOfBlocks((count() + most - 1) / most, hashOf, threads);
}

/// Names the first token that is outside of the vocabulary.
void TokenFile::refuseAmong(const char *bytes, int64_t first,
                            int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = decode(bytes + i * width());
    if (token < 0 || token >= vocabulary || token > INT32_MAX)
      refuse(first + i, token);
  }
}

int64_t TokenFile::decode(const char *bytes) const {
  uint64_t value = 0;
  std::memcpy(&value, bytes, width());
  if (!format.isSigned)
    return static_cast<int64_t>(value);
  int64_t above = 64 - 8 * width();
  return static_cast<int64_t>(value << above) >> above;
}

void TokenFile::refuse(int64_t position, int64_t token) const {
  std::string sample = format.isStated ? "" : sampleOf(file);
  fail(TSR_INVALID_ARGUMENT, "token ", token, " at position ", position,
       " of '", file.path(), "' is outside of the vocabulary of ", vocabulary,
       "; ", explainToken(token, width(), sample, vocabulary));
}

} // namespace tessera
