//===- PostProcessor.h - special tokens around a text -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H
#define TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H

#include "runtime/support/Json.h"

#include <cstdint>
#include <vector>

namespace tessera {

/// Holds the tokens that are added before and after a single text. Every
/// post-processor that is supported does no more than that, as there are no
/// pairs.
struct PostProcessor {
  std::vector<int32_t> before, after;
};

/// Reads a post-processor. TSR_CORRUPT, TSR_UNSUPPORTED name what is wrong.
PostProcessor readPostProcessor(const JsonView &part);

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_POSTPROCESSOR_H
