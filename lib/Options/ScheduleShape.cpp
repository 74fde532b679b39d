//===- ScheduleShape.cpp - sizes of a schedule of stages ------------------===//

#include "tessera/Options/ScheduleShape.h"
#include "tessera/Options/Counted.h"

namespace tessera::pipeline {

std::string checkShape(ScheduleKind kind, const Shape &shape) {
  // A product may overflow.
  bool fits = shape.stages <= kMostParts &&
              shape.virtualStages <= kMostParts / shape.stages &&
              shape.microBatches <= kMostParts / shape.chunks();
  if (!fits)
    return "a pipeline has at most " + counted(kMostParts, "micro-batch") +
           " of all chunks together, but " +
           counted(shape.microBatches, "micro-batch") + " pass through " +
           counted(shape.stages, "stage") + " of " +
           counted(shape.virtualStages, "chunk") +
           "; use fewer micro-batches or virtual stages";
  bool manyChunks = shape.virtualStages > 1;
  if (manyChunks == (kind == ScheduleKind::Interleaved))
    return "";
  return std::string("schedule '") + nameOf(kind) + "' has " +
         (manyChunks ? "1 chunk" : "several chunks") + " per stage, but " +
         counted(shape.virtualStages, "virtual stage") +
         (manyChunks ? " are" : " is") + " asked for; " +
         (manyChunks ? "use schedule 'interleaved'"
                     : "use 2 or more virtual stages, or schedule '1f1b'");
}

} // namespace tessera::pipeline
