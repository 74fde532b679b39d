//===- Picture.h - a schedule as SVG ----------------------------*- C++ -*-===//

#ifndef TESSERA_SCHEDULE_PICTURE_H
#define TESSERA_SCHEDULE_PICTURE_H

#include "tessera/Schedule/Simulation.h"

namespace tessera::pipeline {

/// Returns a row per stage, a box per task with its micro-batch where that is
/// readable; later chunks of a stage are darker. A long timeline is broken into
/// lines. The text is a complete SVG document.
std::string drawSchedule(const PipelineSchedule &schedule,
                         const Simulation &simulation);

} // namespace tessera::pipeline

#endif // TESSERA_SCHEDULE_PICTURE_H
