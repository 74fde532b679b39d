//===- TokenizerChecks.h - what must hold of each tokenizer -----*- C++ -*-===//
#ifndef TESSERA_TEST_FUZZ_TOKENIZER_TOKENIZERCHECKS_H
#define TESSERA_TEST_FUZZ_TOKENIZER_TOKENIZERCHECKS_H

#include "runtime/tokenizer/Tokenizer.h"

#include <functional>

namespace fuzzed {

/// Returns whether `act` does what it is asked for; else its refusal says why.
bool works(const std::function<void()> &act);

/// Says whether a stream must give the text that decoding all ids at once
/// gives.
enum class Stream { Equal, Free };

/// Encodes the text, alone and between others, decodes ids of it and any
/// others, and checks what comes out.
void checkTokenizer(const std::shared_ptr<tessera::Tokenizer> &tokenizer,
                    std::string_view text, Stream stream);

} // namespace fuzzed

#endif // TESSERA_TEST_FUZZ_TOKENIZER_TOKENIZERCHECKS_H
