//===- Request.h - a text that is continued ---------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_GENERATE_REQUEST_H
#define TESSERA_RUNTIME_GENERATE_REQUEST_H

#include "tessera/tessera.h"

#include <cstdint>
#include <vector>

namespace tessera {

/// Settings for the choice of the next token. First the logits of tokens that
/// the text has are divided by `repetitionPenalty` if they are above 0, else
/// multiplied by it. `temperature` 0: the largest logit. The next three keep
/// the most probable tokens, one after the other as in `transformers`: the
/// first `topK` (0: all) and those that are as probable as the last of them; of
/// these, whose probabilities then sum to 1, those before which less than
/// `topP` is summed; and those with at least `minP` of the largest probability.
struct Sampling {
  double temperature = 0, topP = 1, minP = 0, repetitionPenalty = 1;
  int64_t topK = 0, seed = 0;
  int64_t alternatives = 0; ///< Reported beside the token.

  bool isGreedy() const { return temperature == 0; }
  bool isRestricted() const { return topK > 0 || topP < 1 || minP > 0; }
};

/// Why a request has ended.
enum class Ending { None, Stop, Length, Cancelled, Failed, Scored };

/// Who gets the tokens of a request as they are made; null: whoever asks.
struct Listener {
  tsr_on_token *call = nullptr;
  void *context = nullptr;
};

/// Who gets the scores of a request; null: whoever asks.
struct ScoreListener {
  tsr_on_scores *call = nullptr;
  void *context = nullptr;
};

/// The options of a request.
struct RequestOptions {
  int64_t maxNewTokens = 0; ///< 0: up to the places of a slot.
  Sampling sampling;
  std::vector<int32_t> stops;
  Listener listener;
  bool isRecomputed = false; ///< Takes nothing over from others.
};

/// The same of a text that is scored.
struct ScoreOptions {
  ScoreListener listener;
  bool isRecomputed = false;
};

/// A text that goes on with tokens that are chosen, or one whose tokens from
/// some position on are scored.
struct Request {
  int64_t id = 0;
  std::vector<int32_t> tokens; ///< The prompt, then what was generated.
  /// The source of the text, if the model has an encoder; `tokens` then begin
  /// with the token that begins every text.
  std::vector<int32_t> source;
  bool isEncoded = false; ///< Its slot holds what is made of the source.
  int64_t most = 0;       ///< Tokens, with those of the prompt.
  Sampling sampling;
  std::vector<int32_t> stops; ///< Tokens that end it.
  Listener listener;
  int64_t given = 0; ///< Tokens before the scored ones; 0: it generates.
  std::vector<tsr_token_score> scores;
  ScoreListener scoreListener;
  bool isCancelled = false;
  bool isRecomputed = false; ///< Keys and values of others are not for it.

  int64_t lane = -1, slot = -1; ///< -1: it is queued.
  int64_t done = 0;             ///< Positions that caches hold.

  bool isQueued() const { return slot < 0; }
  bool isScored() const { return given > 0; }
  /// Returns the positions that steps run: nothing is asked after the last
  /// scored token.
  int64_t length() const {
    return static_cast<int64_t>(tokens.size()) - isScored();
  }
  /// Positions that no step has run yet: 1 once a prompt to go on is done.
  int64_t left() const { return length() - done; }
  /// Returns how many of these come before the first whose outcome is wanted:
  /// the prompt's but for its last.
  int64_t leftOfPrompt() const {
    return (isScored() ? given : length()) - 1 - done;
  }
  /// Returns the token that is scored after a position; -1: none.
  int32_t labelAt(int64_t position) const {
    return isScored() && position + 1 >= given ? tokens[position + 1] : -1;
  }
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_REQUEST_H
