//===- TextOfTokens.h - a model's tokenizer, if there is one ----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_GENERATE_TEXTOFTOKENS_H
#define TESSERA_TOOLS_TESSERA_GENERATE_TEXTOFTOKENS_H

#include "tessera/tokenizer.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Prompts to tokens, and tokens to text. Without a tokenizer the text of a
/// token is its number. Errors are printed, and false returned.
class TextOfTokens {
public:
  /// `path`: a folder with a tokenizer; "": there is none.
  bool open(const std::string &path);
  /// Texts are their bytes.
  bool openBytes();
  bool hasTokenizer() const { return tokenizer != nullptr; }
  /// Returns the ids of the tokenizer; 0 without one.
  int64_t size() const;
  bool encode(const std::string &text, std::vector<int32_t> &ids,
              tsr_special special = TSR_WITH_SPECIAL);
  /// Returns the id of a token by its text; -1 if the tokenizer has none.
  int32_t find(const std::string &token) const;
  /// Returns the text of tokens; without a tokenizer their numbers.
  std::string textOf(const std::vector<int32_t> &ids, tsr_special special);
  /// Returns the token that ends a text; -1 if the tokenizer names none.
  int32_t end() const;

  /// Text that comes token by token.
  class Stream {
  public:
    /// `stops`: texts that end the text before them, of a tokenizer.
    explicit Stream(const TextOfTokens &text,
                    const std::vector<std::string> &stops = {});
    /// Returns the text that the token adds.
    std::string push(int32_t token);
    std::string finish();
    bool isStopped() const {
      return stream && tsr_token_stream_stop(stream.get()) >= 0;
    }

  private:
    struct Destroy {
      void operator()(tsr_token_stream *object) const {
        tsr_token_stream_destroy(object);
      }
    };
    std::unique_ptr<tsr_token_stream, Destroy> stream; ///< Null: numbers.
    bool isFirst = true;
  };

private:
  struct Destroy {
    void operator()(tsr_tokenizer *object) const {
      tsr_tokenizer_destroy(object);
    }
  };
  std::unique_ptr<tsr_tokenizer, Destroy> tokenizer;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_GENERATE_TEXTOFTOKENS_H
