//===- Timeline.h - what a stage does when, in a simulated step -----------===//

#ifndef TESSERA_LIB_PREDICT_TIMELINE_H
#define TESSERA_LIB_PREDICT_TIMELINE_H

#include "tessera/Simulate/Simulate.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// Writes what the device does, and the network beside it: segments in the
/// order of time, with `begin`, `end`, `name` and the `seconds` of each
/// activity inside. A segment is a part of the model, a wait or a transfer;
/// where there are more than `most`, short ones are joined with their
/// neighbours, so that sums stay as they are (docs/Page.md). The tasks of a
/// pipeline stage are written as well. Needs spans.
llvm::json::Object timelineJson(const simulate::StageProgram &program,
                                const simulate::StageTimes &times, size_t most);

/// Segments of a lane that a screen can show.
constexpr size_t kSegmentsOfLane = 1000;

} // namespace tessera

#endif // TESSERA_LIB_PREDICT_TIMELINE_H
