//===- BatchChecks.h - refusals of a caller's tokens and labels -*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SESSION_BATCHCHECKS_H
#define TESSERA_RUNTIME_SESSION_BATCHCHECKS_H

#include "runtime/session/StepInputs.h"

namespace tessera {

/// TSR_INVALID_ARGUMENT: `count` is not [batch, Model::columns()], or a token
/// is outside of the vocabulary.
void checkTokens(const Model &model, const int32_t *tokens, size_t count);

/// TSR_INVALID_ARGUMENT: one of [batch, sequence] values is not in [0, limit).
void checkRange(const Model &model, const char *what, const int32_t *values,
                int64_t limit);

/// The use of a batch's labels decides whether some may be ignored.
enum class LabelUse { Step, Evaluation };

/// Negative labels are for models that ignore them, and one must count. Any
/// other model's are right if they are below the vocabulary.
void checkLabels(const Metadata &metadata, const Tokens &given, LabelUse use);

/// Returns the sequences in `count` tokens. TSR_UNSUPPORTED: the evaluation
/// program needs a whole batch.
int64_t evaluatedSequences(const Metadata &metadata, size_t count);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_BATCHCHECKS_H
