#include "test/Fuzz/Tokenizer/TokenizerChecks.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/TextLimit.h"
#include "runtime/tokenizer/TextStream.h"
#include "runtime/tokenizer/Utf8.h"
#include "test/Fuzz/Input.h"

#include <algorithm>

using namespace tessera;

namespace fuzzed {

using Ids = std::vector<int32_t>;

bool works(const std::function<void()> &act) {
  try {
    act();
    return true;
  } catch (const Error &error) {
    require(error.status.code != TSR_OK, "an error has a code");
    require(error.status.code != TSR_INTERNAL, "an input is no fault of ours");
    require(!error.status.message.empty(), "an error says why");
    require(error.status.message.size() < 4096, "an error is short");
    return false;
  }
}

static void checkText(const Tokenizer &tokenizer, const Ids &ids,
                      tsr_special special) {
  works([&] {
    std::string text = tokenizer.decode(ids, special);
    require(validPrefix(text) == text.size(), "decoded text is UTF-8");
    require(text == tokenizer.decode(ids, special),
            "ids have the same text each time");
    size_t bytes = tokenizer.countBytes(ids, special);
    require(bytes <= text.size() + 3 * ids.size(), "tokens have their bytes");
  });
}

static void checkStream(const std::shared_ptr<Tokenizer> &tokenizer,
                        const Ids &ids, Stream stream) {
  TextStream parts(tokenizer, TSR_WITHOUT_SPECIAL);
  std::string text, whole;
  bool isDone = works([&] {
    for (int32_t id : ids) {
      std::string part = parts.push(id);
      require(validPrefix(part) == part.size(), "a stream gives characters");
      text += part;
    }
    text += parts.finish();
    whole = tokenizer->decode(ids, TSR_WITHOUT_SPECIAL);
  });
  require(!isDone || stream == Stream::Free || text == whole,
          "a stream gives the text of all ids");
}

static bool encode(Tokenizer &tokenizer, std::string_view text,
                   tsr_special special, Ids &ids) {
  ids.clear();
  return works([&] { tokenizer.encode(text, special, ids); });
}

static void checkEncoding(const std::shared_ptr<Tokenizer> &tokenizer,
                          std::string_view text, tsr_special special,
                          Stream stream) {
  Ids ids, others, again;
  if (!encode(*tokenizer, text, special, ids))
    return;
  tokenizer->requireIds(ids.data(), ids.size());
  require(ids.size() <= TextLimit::factor * text.size() + (size_t(1) << 23),
          "a text has tokens in proportion to its length");
  encode(*tokenizer, std::string(text) + " " + std::string(text), special,
         others);
  encode(*tokenizer, text.substr(text.size() / 2), special, others);
  require(encode(*tokenizer, text, special, again) && ids == again,
          "a text has the same tokens each time");
  checkText(*tokenizer, ids, TSR_WITH_SPECIAL);
  checkText(*tokenizer, ids, TSR_WITHOUT_SPECIAL);
  checkStream(tokenizer, ids, stream);
}

void checkTokenizer(const std::shared_ptr<Tokenizer> &tokenizer,
                    std::string_view text, Stream stream) {
  checkEncoding(tokenizer, text, TSR_WITH_SPECIAL, stream);
  checkEncoding(tokenizer, text, TSR_WITHOUT_SPECIAL, stream);
  const int32_t size = tokenizer->vocabularySize();
  Ids ids;
  for (unsigned char byte : text)
    ids.push_back(byte % size);
  checkText(*tokenizer, ids, TSR_WITH_SPECIAL);
  checkStream(tokenizer, ids, stream);
  for (int32_t id = 0; id < std::min(size, 300); ++id)
    checkText(*tokenizer, {id}, TSR_WITHOUT_SPECIAL);
  tokenizer->idOf(text);
}

} // namespace fuzzed
