//===- TokenizerTarget.cpp - tokenizer.json, and texts by it --------------===//
// A byte says how long the text is, which comes next; the others are the file.
#include "runtime/support/JsonLimits.h"
#include "test/Fuzz/Input.h"
#include "test/Fuzz/Tokenizer/TokenizerChecks.h"

using namespace tessera;
using namespace fuzzed;

/// Returns what a stream of tokens promises. It is exact for decoders that look
/// at each token alone, and at whether it is the first.
static Stream streamOf(std::string_view file) {
  JsonTree tree = parseJson("tokenizer", file, json_kinds::tokenizer);
  const nlohmann::json &decoder = tree.root["decoder"];
  std::string type = decoder.is_object() ? decoder.value("type", "") : "none";
  for (const char *known :
       {"none", "ByteLevel", "WordPiece", "Metaspace", "Fuse", "BPEDecoder"})
    if (type == known)
      return Stream::Equal;
  return Stream::Free;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  std::string_view text = input.bytes(input.byte()), file = input.rest();
  std::shared_ptr<Tokenizer> tokenizer;
  if (works([&] { tokenizer = readTokenizer("tokenizer", file); }))
    checkTokenizer(tokenizer, text, streamOf(file));
  return 0;
}
