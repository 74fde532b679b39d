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
  /// Returns a Hugging Face folder, or the file in it.
  explicit Tokenizer(const std::string &path) {
    tsr_tokenizer *raw = nullptr;
    detail::check(tsr_tokenizer_load(path.c_str(), &raw));
    handle.reset(raw);
  }
  /// Ids are the bytes of a text.
  static Tokenizer ofBytes() {
    tsr_tokenizer *raw = nullptr;
    detail::check(tsr_tokenizer_create_bytes(&raw));
    return Tokenizer(raw);
  }

  std::int64_t vocabularySize() const {
    return tsr_tokenizer_vocabulary_size(get());
  }
  std::int32_t find(const std::string &token) const {
    std::int32_t id = 0;
    detail::check(tsr_tokenizer_find(get(), token.c_str(), &id));
    return id;
  }
  /// Returns the token that ends a document; "": the folder names none.
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
  /// Returns the bytes of the text that ids from `first` on add to those before
  /// them.
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
  explicit Tokenizer(tsr_tokenizer *raw) : handle(raw) {}
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

  /// Sets texts that end the text before them. TSR_INVALID_ARGUMENT: one is
  /// empty, no UTF-8, or has U+0000.
  void setStops(const std::vector<std::string> &stops) {
    std::vector<const char *> texts;
    for (const std::string &stop : stops) {
      if (stop.find('\0') != std::string::npos)
        throw Exception(TSR_INVALID_ARGUMENT,
                        "a stop has U+0000, which no text has; leave it out");
      texts.push_back(stop.c_str());
    }
    detail::check(
        tsr_token_stream_set_stops(get(), texts.data(), texts.size()));
  }
  /// Returns the number of the stop that has ended it; -1: none.
  std::int64_t stop() const { return tsr_token_stream_stop(get()); }
  /// Returns the text that the id adds, in whole characters.
  std::string push(std::int32_t id) {
    const char *text = nullptr;
    std::size_t bytes = 0;
    detail::check(tsr_token_stream_push(get(), id, &text, &bytes));
    return {text, bytes};
  }
  /// Returns the rest of the text.
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

class TextRequest;

/// Texts to texts, for any number of threads: a generator with a thread of its
/// own, and the tokenizer of its model.
class TextGenerator {
public:
  /// `folder` has the weights and the tokenizer. TSR_MISMATCH: the vocabulary
  /// of the tokenizer is larger than the model's.
  TextGenerator(const Artifact &artifact, const std::string &folder,
                const tsr_session_options &options = sessionOptions())
      : tokenizer(folder), config(artifact, folder), ends(findEnds()),
        generator(artifact, folder, options) {
    if (tokenizer.vocabularySize() > artifact.vocabulary())
      throw Exception(TSR_MISMATCH,
                      "the tokenizer in '" + folder + "' has a vocabulary of " +
                          std::to_string(tokenizer.vocabularySize()) +
                          ", the model one of " +
                          std::to_string(artifact.vocabulary()));
  }

  std::vector<std::int32_t> encode(const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex);
    return tokenizer.encode(text);
  }
  /// Returns how the files of the folder say that texts end and are drawn.
  const GenerationConfig &generationConfig() const { return config; }
  /// Returns the text of a token alone; "" of one that pads the model's
  /// vocabulary.
  std::string decode(std::int32_t token) {
    std::lock_guard<std::mutex> lock(mutex);
    return isPadding(token) ? "" : tokenizer.decode({token});
  }
  /// Names a token if it says which it is, else by its number.
  std::string nameOf(std::int32_t token) {
    const std::string text = decode(token);
    const bool isWhole = text.find("\uFFFD") == std::string::npos;
    return !text.empty() && isWhole ? text
                                    : "token_id:" + std::to_string(token);
  }
  /// A request, as TextRequest makes it; null if `most` wait or run.
  std::unique_ptr<TextRequest> begin(const std::vector<std::int32_t> &prompt,
                                     const tsr_request_options &options,
                                     const std::vector<std::string> &stops,
                                     std::int64_t most);
  std::int64_t active() const { return generator.active(); }
  /// Cancels requests that wait or run. Nothing is added after it.
  void stop() { generator.stop(); }
  /// Returns why a step has failed, which ends all requests; "": none has.
  std::string failure() const { return generator.failure(); }

private:
  friend class TextRequest;
  /// Returns the end tokens of the model's files, or the tokenizer's where they
  /// name none.
  std::vector<std::int32_t> findEnds() const {
    const std::string end = tokenizer.endToken();
    if (!config.endTokens.empty() || end.empty())
      return config.endTokens;
    return {tokenizer.find(end)};
  }
  bool isPadding(std::int32_t token) const {
    return token >= tokenizer.vocabularySize();
  }

  std::mutex mutex; // guards the tokenizer and all streams
  std::mutex beginning;
  Tokenizer tokenizer;
  const GenerationConfig config;
  const std::vector<std::int32_t> ends;
  GeneratorThread generator;
};

/// A request of a TextGenerator, for one thread. It ends after an end token of
/// the model's files, or of the tokenizer if they name none; before a text of
/// `stops`; and when it is destroyed.
class TextRequest {
public:
  /// on_token, context and stop tokens of the options are not the caller's.
  TextRequest(TextGenerator &owner, const std::vector<std::int32_t> &prompt,
              tsr_request_options options,
              const std::vector<std::string> &stops = {})
      : owner(owner), stream(owner.tokenizer), given(prompt.size()) {
    stream.setStops(stops);
    options.stop_tokens = owner.ends.data();
    options.stop_count = owner.ends.size();
    request = owner.generator.add(prompt, options);
  }
  TextRequest(const TextRequest &) = delete;
  TextRequest &operator=(const TextRequest &) = delete;
  ~TextRequest() { owner.generator.cancel(*request); }

  /// Takes the next token, and what it adds to the text. The last one says how
  /// the request has ended: a stop is TSR_ENDED_STOP, be it a token or a text.
  /// False: none has come for so long, or it has ended.
  bool take(GeneratorRequest::Token &token, std::string &text,
            std::chrono::milliseconds patience) {
    if (end != TSR_GOES_ON || !request->take(token, patience))
      return false;
    tsr_generated &made = token.made;
    count += made.token >= 0;
    std::lock_guard<std::mutex> lock(owner.mutex);
    bool isText = made.token >= 0 && made.ended != TSR_ENDED_STOP;
    text = isText && !owner.isPadding(made.token) ? stream.push(made.token)
                                                  : std::string();
    if (made.ended)
      text += stream.finish();
    if (stream.stop() >= 0)
      made.ended = TSR_ENDED_STOP;
    end = made.ended;
    if (end != TSR_GOES_ON)
      owner.generator.cancel(*request);
    return true;
  }
  std::int64_t number() const { return request->number; }
  /// Returns the tokens of the prompt, and those that were taken.
  std::size_t promptTokens() const { return given; }
  std::size_t newTokens() const { return count; }
  /// Returns how it has ended; TSR_GOES_ON: it has not.
  std::int32_t ended() const { return end; }
  /// Returns why it has ended before its time; "": it has not.
  std::string failure() const {
    if (end == TSR_ENDED_CANCELLED)
      return "the generator has stopped";
    const std::string why = end == TSR_ENDED_FAILED ? owner.failure() : "";
    return end == TSR_ENDED_FAILED && why.empty() ? "the logits are not numbers"
                                                  : why;
  }

private:
  TextGenerator &owner;
  TokenStream stream;
  std::shared_ptr<GeneratorRequest> request;
  std::size_t given, count = 0;
  std::int32_t end = TSR_GOES_ON;
};

inline std::unique_ptr<TextRequest>
TextGenerator::begin(const std::vector<std::int32_t> &prompt,
                     const tsr_request_options &options,
                     const std::vector<std::string> &stops, std::int64_t most) {
  std::lock_guard<std::mutex> lock(beginning);
  if (active() >= most)
    return nullptr;
  return std::make_unique<TextRequest>(*this, prompt, options, stops);
}

} // namespace tessera

#endif // TESSERA_TOKENIZER_HPP
