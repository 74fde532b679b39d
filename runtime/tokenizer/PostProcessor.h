//===- PostProcessor.h - special tokens around a text -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H
#define TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H

#include "runtime/support/Json.h"

#include <cstdint>
#include <vector>

namespace tessera {

/// Of one text, not of a pair, every post-processor that is supported adds
/// tokens before and after it.
struct PostProcessor {
  std::vector<int32_t> before, after;
};

/// TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
PostProcessor readPostProcessor(const JsonView &part);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H
