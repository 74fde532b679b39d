//===- TextOfTokens.cpp - a model's tokenizer, if there is one ------------===//

#include "tools/tessera/generate/TextOfTokens.h"
#include "tools/tessera/output/PrintError.h"

using namespace tessera;

bool TextOfTokens::open(const std::string &path) {
  if (path.empty())
    return true;
  tsr_tokenizer *loaded = nullptr;
  if (tsr_tokenizer_load(path.c_str(), &loaded) != TSR_OK)
    return !printError(tsr_last_error());
  tokenizer.reset(loaded);
  return true;
}

bool TextOfTokens::openBytes() {
  tsr_tokenizer *created = nullptr;
  if (tsr_tokenizer_create_bytes(&created) != TSR_OK)
    return !printError(tsr_last_error());
  tokenizer.reset(created);
  return true;
}

int64_t TextOfTokens::size() const {
  return tokenizer ? tsr_tokenizer_vocabulary_size(tokenizer.get()) : 0;
}

bool TextOfTokens::encode(const std::string &text, std::vector<int32_t> &ids,
                          tsr_special special) {
  const int32_t *first = nullptr;
  size_t count = 0;
  if (tsr_tokenizer_encode(tokenizer.get(), text.data(), text.size(), special,
                           &first, &count) != TSR_OK)
    return !printError(tsr_last_error());
  ids.assign(first, first + count);
  return true;
}

int32_t TextOfTokens::find(const std::string &token) const {
  int32_t id = -1;
  if (tokenizer && !token.empty() &&
      tsr_tokenizer_find(tokenizer.get(), token.c_str(), &id) != TSR_OK)
    return -1;
  return id;
}

int32_t TextOfTokens::end() const {
  return tokenizer ? find(tsr_tokenizer_end_token(tokenizer.get())) : -1;
}

/// A token that pads the model's vocabulary is none of the tokenizer's.
std::string TextOfTokens::textOf(const std::vector<int32_t> &ids,
                                 tsr_special special) {
  const char *text = nullptr;
  size_t bytes = 0;
  if (tokenizer && tsr_tokenizer_decode(tokenizer.get(), ids.data(), ids.size(),
                                        special, &text, &bytes) == TSR_OK)
    return {text, bytes};
  std::string numbers;
  for (int32_t id : ids)
    numbers += (numbers.empty() ? "" : " ") + std::to_string(id);
  return numbers;
}

TextOfTokens::Stream::Stream(const TextOfTokens &text,
                             const std::vector<std::string> &stops) {
  tsr_token_stream *created = nullptr;
  if (text.tokenizer &&
      tsr_token_stream_create(text.tokenizer.get(), TSR_WITHOUT_SPECIAL,
                              &created) == TSR_OK)
    stream.reset(created);
  std::vector<const char *> texts;
  for (const std::string &stop : stops)
    texts.push_back(stop.c_str());
  if (stream && tsr_token_stream_set_stops(stream.get(), texts.data(),
                                           texts.size()) != TSR_OK)
    printError(tsr_last_error());
}

/// A token that pads the model's vocabulary is none of the tokenizer's.
std::string TextOfTokens::Stream::push(int32_t token) {
  std::string number = (isFirst ? "" : " ") + std::to_string(token);
  isFirst = false;
  if (!stream)
    return number;
  const char *text = nullptr;
  size_t bytes = 0;
  if (tsr_token_stream_push(stream.get(), token, &text, &bytes) != TSR_OK)
    return "<" + std::to_string(token) + ">";
  return {text, bytes};
}

std::string TextOfTokens::Stream::finish() {
  const char *text = nullptr;
  size_t bytes = 0;
  if (!stream || tsr_token_stream_finish(stream.get(), &text, &bytes) != TSR_OK)
    return "";
  return {text, bytes};
}
