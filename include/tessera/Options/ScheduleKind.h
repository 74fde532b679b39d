//===- ScheduleKind.h - kinds of schedules of pipeline stages ---*- C++ -*-===//

#ifndef TESSERA_OPTIONS_SCHEDULEKIND_H
#define TESSERA_OPTIONS_SCHEDULEKIND_H

#include "tessera/Options/Names.h"

namespace tessera {

enum class ScheduleKind {
  GPipe,
  OneForwardOneBackward,
  Interleaved,
  ZeroBubble
};

template <> struct Names<ScheduleKind> {
  static constexpr Name<ScheduleKind> table[] = {
      {ScheduleKind::GPipe, "gpipe"},
      {ScheduleKind::OneForwardOneBackward, "1f1b"},
      {ScheduleKind::Interleaved, "interleaved"},
      {ScheduleKind::ZeroBubble, "zero-bubble"},
  };
};

} // namespace tessera

#endif // TESSERA_OPTIONS_SCHEDULEKIND_H
