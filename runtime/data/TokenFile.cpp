#include "runtime/data/TokenFile.h"

#include "runtime/data/TokenSample.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tessera {

TokenFile::TokenFile(const std::string &path, const std::string &asked,
                     int64_t vocabulary)
    : file(findTokens(path, asked)),
      format(findFormat(file, asked, vocabulary)), vocabulary(vocabulary),
      hashOfSample(checkSample()) {}

uint64_t TokenFile::checkSample() const {
  int64_t checked = std::min(count(), sampleBytes / width());
  std::vector<int32_t> tokens(2 * checked);
  read(0, checked, tokens.data());
  read(count() - checked, checked, tokens.data() + checked);
  return hashBytes(tokens.data(), tokens.size() * sizeof(int32_t));
}

/// Whether all are below `limit`, which is at most 2^31; negative ones are not.
/// The loop has no branch, so that it becomes one over vectors.
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
  auto limit =
      static_cast<uint64_t>(std::min(vocabulary, int64_t(INT32_MAX) + 1));
  for (int64_t done = 0; done < count; done += most) {
    int64_t length = std::min(count - done, most), first = position + done;
    file.read(format.skipped + first * width(), bytes, length * width());
    if (!widen(bytes, length, limit, out + done))
      refuseAmong(bytes, first, length);
  }
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
