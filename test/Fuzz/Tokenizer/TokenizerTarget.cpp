//===- TokenizerTarget.cpp - tokenizer.json, and texts by it --------------===//
// A byte says how long the text is, which comes next; the others are the file.
#include "runtime/support/Status.h"
#include "runtime/tokenizer/TextStream.h"
#include "runtime/tokenizer/Utf8.h"
#include "test/Fuzz/Input.h"

using namespace tessera;
using namespace fuzzed;

/// Whether `act` does what it is asked for; if not, the refusal says why.
template <class Act> static bool works(const Act &act) {
  try {
    act();
    return true;
  } catch (const Error &error) {
    require(error.status.code != TSR_OK, "an error has a code");
    require(error.status.code != TSR_INTERNAL, "an input is no fault of ours");
    require(!error.status.message.empty(), "an error says why");
    return false;
  }
}

static void checkText(const Tokenizer &tokenizer,
                      const std::vector<int32_t> &ids, tsr_special special) {
  std::string text = tokenizer.decode(ids, special);
  require(validPrefix(text) == text.size(), "decoded text is UTF-8");
  size_t bytes = tokenizer.countBytes(ids, special);
  require(bytes <= text.size() + 3 * ids.size(), "tokens have their bytes");
}

static void checkStream(const std::shared_ptr<Tokenizer> &tokenizer,
                        const std::vector<int32_t> &ids) {
  TextStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
  for (int32_t id : ids) {
    std::string part = stream.push(id);
    require(validPrefix(part) == part.size(), "a stream gives characters");
  }
  stream.finish();
}

static void encode(const std::shared_ptr<Tokenizer> &tokenizer,
                   std::string_view text, tsr_special special) {
  std::vector<int32_t> ids, again;
  if (!works([&] { tokenizer->encode(text, special, ids); }))
    return;
  tokenizer->requireIds(ids.data(), ids.size());
  tokenizer->encode(text, special, again);
  require(ids == again, "a text has the same tokens each time");
  checkText(*tokenizer, ids, TSR_WITH_SPECIAL);
  checkText(*tokenizer, ids, TSR_WITHOUT_SPECIAL);
  checkStream(tokenizer, ids);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  std::string_view text = input.bytes(input.byte());
  std::shared_ptr<Tokenizer> tokenizer;
  if (!works([&] { tokenizer = readTokenizer("tokenizer", input.rest()); }))
    return 0;
  encode(tokenizer, text, TSR_WITH_SPECIAL);
  encode(tokenizer, text, TSR_WITHOUT_SPECIAL);
  for (int32_t id = 0; id < std::min(tokenizer->vocabularySize(), 300); ++id)
    checkText(*tokenizer, {id}, TSR_WITHOUT_SPECIAL);
  tokenizer->idOf(text);
  return 0;
}
