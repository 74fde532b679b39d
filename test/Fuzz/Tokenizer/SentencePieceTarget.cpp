//===- SentencePieceTarget.cpp - tokenizer.model, and texts by it ---------===//
// A byte says how long the text is, which comes next; the others are the file.
// Its lowest bits say what is added around a text.
#include "test/Fuzz/Input.h"
#include "test/Fuzz/Tokenizer/TokenizerChecks.h"

using namespace tessera;
using namespace fuzzed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  const uint8_t bytes = input.byte();
  std::string_view text = input.bytes(bytes), file = input.rest();
  const AroundText around = {(bytes & 1) != 0, (bytes & 2) != 0};
  std::shared_ptr<Tokenizer> tokenizer;
  if (!works([&] { tokenizer = readSentencePiece("model", file, around); }))
    return 0;
  checkTokenizer(tokenizer, text, Stream::Free);
  std::string many; // long enough for the limit on runs of unknown characters
  for (int i = 0; i < 80; ++i)
    many += text;
  std::vector<int32_t> ids;
  works([&] { tokenizer->encode(many, TSR_WITH_SPECIAL, ids); });
  tokenizer->requireIds(ids.data(), ids.size());
  return 0;
}
