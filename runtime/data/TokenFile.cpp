#include "runtime/data/TokenFile.h"

#include "runtime/data/TokenSample.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tessera {

TokenFile::TokenFile(const std::string &path, const std::string &asked,
                     int64_t vocabulary)
    : file(path), format(findFormat(file, asked, vocabulary)),
      vocabulary(vocabulary) {
  int64_t checked = std::min(count(), sampleBytes / width());
  std::vector<int32_t> tokens(checked);
  read(0, checked, tokens.data());
  read(count() - checked, checked, tokens.data());
}

void TokenFile::read(int64_t position, int64_t count, int32_t *out) const {
  std::vector<char> bytes(count * width());
  file.read(format.skipped + position * width(), bytes.data(), bytes.size());
  for (int64_t i = 0; i < count; ++i) {
    uint32_t token = 0;
    std::memcpy(&token, bytes.data() + i * width(), width());
    if (token >= vocabulary || token > INT32_MAX)
      refuse(position + i, token);
    out[i] = static_cast<int32_t>(token);
  }
}

void TokenFile::refuse(int64_t position, int64_t token) const {
  std::string sample = format.isStated ? "" : sampleOf(file);
  fail(TSR_INVALID_ARGUMENT, "token ", token, " at position ", position,
       " of '", file.path(), "' is outside of the vocabulary of ", vocabulary,
       "; ", explainToken(token, width(), sample, vocabulary));
}

} // namespace tessera
