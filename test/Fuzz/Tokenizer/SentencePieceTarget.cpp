//===- SentencePieceTarget.cpp - tokenizer.model, and texts by it ---------===//
// A byte says how long the text is, which comes next; the others are the file.
#include "test/Fuzz/Input.h"
#include "test/Fuzz/Tokenizer/TokenizerChecks.h"

using namespace tessera;
using namespace fuzzed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  std::string_view text = input.bytes(input.byte()), file = input.rest();
  std::shared_ptr<Tokenizer> tokenizer;
  if (works([&] { tokenizer = readSentencePiece("model", file, {}); }))
    checkTokenizer(tokenizer, text, Stream::Free);
  return 0;
}
