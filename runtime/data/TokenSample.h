//===- TokenSample.h - what the first bytes of a file look like -*- C++ -*-===//
// Raw tokens do not say how wide they are. Patterns that real tokens do not
// have tell a wrong width, in samples of some length: short ones are like
// anything.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_TOKENSAMPLE_H
#define TESSERA_RUNTIME_DATA_TOKENSAMPLE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

bool isLikeText(std::string_view bytes);
/// Returns whether the bytes look like uint32: read as uint16, every second
/// value is 0, or not above what the high halves of ids below `vocabulary` are.
bool isLikeUint32(std::string_view bytes, int64_t vocabulary);
/// Returns whether the bytes look like int64: read as uint32, every second
/// value is 0.
bool isLikeInt64(std::string_view bytes);

/// Returns why `token`, of `width` bytes, may be outside of the vocabulary, and
/// what to do. `sample` is empty if a header states the width.
std::string explainToken(int64_t token, int64_t width, std::string_view sample,
                         int64_t vocabulary);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_TOKENSAMPLE_H
