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
      format(findFormat(file, asked, vocabulary)), vocabulary(vocabulary) {
  int64_t checked = std::min(count(), sampleBytes / width());
  std::vector<int32_t> tokens(checked);
  read(0, checked, tokens.data());
  read(count() - checked, checked, tokens.data());
}

void TokenFile::read(int64_t position, int64_t count, int32_t *out) const {
  constexpr int64_t most = 2048; // at a time, in memory that costs nothing
  char bytes[most * sizeof(int64_t)];
  for (int64_t done = 0; done < count; done += most) {
    int64_t length = std::min(count - done, most), first = position + done;
    file.read(format.skipped + first * width(), bytes, length * width());
    for (int64_t i = 0; i < length; ++i) {
      int64_t token = decode(bytes + i * width());
      if (token < 0 || token >= vocabulary || token > INT32_MAX)
        refuse(first + i, token);
      out[done + i] = static_cast<int32_t>(token);
    }
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
