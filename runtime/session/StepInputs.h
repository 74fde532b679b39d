//===- StepInputs.h - the tokens that one step reads ------------*- C++ -*-===//
// Given by ranges, not element by element: between two steps a GPU waits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_STEPINPUTS_H
#define TESSERA_RUNTIME_SESSION_STEPINPUTS_H

#include "runtime/session/TensorAccess.h"

namespace tessera {

/// The inputs of a step at [batch, sequence], C order.
struct StepInputs {
  Tokens ids, labels, tokenTypes, decoderIds; ///< empty: the model has none
  Tokens segments, decoderSegments; ///< empty: attention has no such mask
  bool hasLabels = true;            ///< some label counts
};

/// Makes inputs from [batch, Model::columns()] tokens, which must outlive the
/// result. A causal model predicts the next token, a masked one what is hidden
/// in step `step`, a decoder the target.
StepInputs inputsOf(const Model &model, const int32_t *tokens, int64_t seed,
                    int64_t step);

/// Makes inputs of an evaluation from such tokens, of which only the first
/// `sequences` rows count: all labels of the others are ignored. Tokens of a
/// masked model are hidden by the number of their sequence, which is `first` in
/// the first row.
StepInputs evaluationInputsOf(const Model &model, const int32_t *tokens,
                              int64_t sequences, int64_t first);

/// Makes inputs from those that the caller gives one by one; they must outlive
/// the result.
StepInputs inputsOf(const Model &model, const tsr_batch &batch);

/// Returns whether a label of [batch, Model::labels()] counts. Stops at the
/// first block that has one.
bool anyCounts(const Model &model, const Tokens &labels);

/// Returns whether all are in [0, limit).
bool areWithin(const int32_t *values, int64_t count, int64_t limit);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_STEPINPUTS_H
