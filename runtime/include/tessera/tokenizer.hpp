//===- tokenizer.hpp - C++ wrapper of the tokenizer's C API -----*- C++ -*-===//
// Header only, C++17, as tessera.hpp is.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TOKENIZER_HPP
#define TESSERA_TOKENIZER_HPP

#include "tessera/tessera.hpp"
#include "tessera/tokenizer.h"

namespace tessera {

namespace detail {
struct DestroyTokenizer {
  void operator()(tsr_tokenizer *object) const {
    tsr_tokenizer_destroy(object);
  }
  void operator()(tsr_token_stream *object) const {
    tsr_token_stream_destroy(object);
  }
};
} // namespace detail

/// Texts to ids and back.
class Tokenizer {
public:
  /// A Hugging Face folder, or the file in it.
  explicit Tokenizer(const std::string &path) {
    tsr_tokenizer *raw = nullptr;
    detail::check(tsr_tokenizer_load(path.c_str(), &raw));
    handle.reset(raw);
  }

  std::int64_t vocabularySize() const {
    return tsr_tokenizer_vocabulary_size(get());
  }
  std::int32_t find(const std::string &token) const {
    std::int32_t id = 0;
    detail::check(tsr_tokenizer_find(get(), token.c_str(), &id));
    return id;
  }
  /// That ends a document; "": the folder names none.
  std::string endToken() const { return tsr_tokenizer_end_token(get()); }

  std::vector<std::int32_t> encode(const std::string &text,
                                   tsr_special special = TSR_WITH_SPECIAL) {
    const std::int32_t *ids = nullptr;
    std::size_t count = 0;
    detail::check(tsr_tokenizer_encode(get(), text.data(), text.size(), special,
                                       &ids, &count));
    return {ids, ids + count};
  }
  std::string decode(const std::vector<std::int32_t> &ids,
                     tsr_special special = TSR_WITHOUT_SPECIAL) {
    const char *text = nullptr;
    std::size_t bytes = 0;
    detail::check(tsr_tokenizer_decode(get(), ids.data(), ids.size(), special,
                                       &text, &bytes));
    return {text, bytes};
  }
  /// Of text that ids from `first` on add to those before them.
  std::int64_t countBytes(const std::vector<std::int32_t> &ids,
                          std::size_t first = 0,
                          tsr_special special = TSR_WITHOUT_SPECIAL) const {
    std::int64_t bytes = 0;
    detail::check(tsr_tokenizer_count_bytes(get(), ids.data(), ids.size(),
                                            first, special, &bytes));
    return bytes;
  }
  tsr_tokenizer *get() const { return handle.get(); }

private:
  std::unique_ptr<tsr_tokenizer, detail::DestroyTokenizer> handle;
};

/// The text of ids that come one by one; may outlive the Tokenizer.
class TokenStream {
public:
  explicit TokenStream(const Tokenizer &tokenizer,
                       tsr_special special = TSR_WITHOUT_SPECIAL) {
    tsr_token_stream *raw = nullptr;
    detail::check(tsr_token_stream_create(tokenizer.get(), special, &raw));
    handle.reset(raw);
  }

  /// Texts that end the text before them.
  void setStops(const std::vector<std::string> &stops) {
    std::vector<const char *> texts;
    for (const std::string &stop : stops)
      texts.push_back(stop.c_str());
    detail::check(
        tsr_token_stream_set_stops(get(), texts.data(), texts.size()));
  }
  /// Which of them has ended it; -1: none.
  std::int64_t stop() const { return tsr_token_stream_stop(get()); }
  /// What the id adds, in whole characters.
  std::string push(std::int32_t id) {
    const char *text = nullptr;
    std::size_t bytes = 0;
    detail::check(tsr_token_stream_push(get(), id, &text, &bytes));
    return {text, bytes};
  }
  /// What is left.
  std::string finish() {
    const char *text = nullptr;
    std::size_t bytes = 0;
    detail::check(tsr_token_stream_finish(get(), &text, &bytes));
    return {text, bytes};
  }
  tsr_token_stream *get() const { return handle.get(); }

private:
  std::unique_ptr<tsr_token_stream, detail::DestroyTokenizer> handle;
};

} // namespace tessera

#endif // TESSERA_TOKENIZER_HPP
