//===- Generators.h - one function per kind of schedule ---------*- C++ -*-===//

#ifndef TESSERA_LIB_SCHEDULE_GENERATORS_H
#define TESSERA_LIB_SCHEDULE_GENERATORS_H

#include "tessera/Schedule/PipelineSchedule.h"

namespace tessera::pipeline {

using Order = std::vector<Task>;

/// Tasks of one stage, in order.
Order gpipeOrder(const Shape &shape, int64_t stage);
Order oneForwardOneBackwardOrder(const Shape &shape, int64_t stage);
Order interleavedOrder(const Shape &shape, int64_t stage);
Order zeroBubbleOrder(const Shape &shape, int64_t stage);

} // namespace tessera::pipeline

#endif // TESSERA_LIB_SCHEDULE_GENERATORS_H
