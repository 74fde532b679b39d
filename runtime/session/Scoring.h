//===- Scoring.h - how probable a text is -----------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SESSION_SCORING_H
#define TESSERA_RUNTIME_SESSION_SCORING_H

#include "runtime/session/Session.h"

namespace tessera {

/// The score of the tokens of a text behind those that were given.
struct Score {
  double logProbability = 0; ///< Their sum, in nats.
  /// Tokens with the largest logit at their position.
  int64_t predicted = 0;
};

/// Scores a text; collective. This is an evaluation in which the labels of the
/// text's other tokens, and of all other sequences, are ignored: ranks reduce
/// what is left of each label's logit and of the sum of exponentials, and no
/// logits. TSR_UNSUPPORTED and TSR_INVALID_ARGUMENT as in tsr_session_score.
Score scoreText(Session &session, const int32_t *tokens, size_t count,
                size_t given);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_SCORING_H
