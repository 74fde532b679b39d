//===- SegmentInputs.h - what attention keeps apart -------------*- C++ -*-===//
// Segments of every position of a batch: the number of its document, or 0; -1
// is padding. Made at once, for a segment depends on the tokens before it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_SEGMENTINPUTS_H
#define TESSERA_RUNTIME_SESSION_SEGMENTINPUTS_H

#include "runtime/session/StepInputs.h"

namespace tessera {

/// Gives `inputs`, whose ids and labels are there, the segments that they lack,
/// if the model has any: of documents, which end with the separator, or of what
/// is not padding. `ids` are those before any is hidden.
void addSegments(const Model &model, const Tokens &ids, StepInputs *inputs);

/// The same, of a batch that may have segments of its own, at least -1.
/// TSR_INVALID_ARGUMENT: the model has no such input.
void addSegments(const Model &model, const tsr_batch &batch,
                 StepInputs *inputs);

/// Labels of a model that may ignore them: those after the end of a document
/// belong to the next one and do not count.
Tokens withinDocuments(const Model &model, const Tokens &ids,
                       const Tokens &labels);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_SEGMENTINPUTS_H
