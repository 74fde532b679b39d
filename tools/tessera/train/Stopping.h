//===- Stopping.h - how the processes of a run stop together ----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STOPPING_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STOPPING_H

#include "tessera/tessera.h"

namespace tessera {

/// A process may be told to stop, or fail at what it alone does, such as its
/// log. All processes then stop at the same place, so that they can save.
class Stopping {
public:
  explicit Stopping(bool isFirst) : isFirst(isFirst) {}

  /// Collective: what any process wants becomes what all do. Prints an error
  /// and returns false where the processes have lost each other.
  bool agree(tsr_session *session);
  /// This process cannot go on; the others learn it when they next agree.
  void fail() { own = Wish::Fail; }

  /// Returns whether the processes have agreed that the run ends here.
  bool isAgreed() const { return agreed != Wish::GoOn; }
  /// Returns whether the run ends because a process failed.
  bool hasFailed() const { return agreed == Wish::Fail; }

private:
  enum class Wish { GoOn, Stop, Fail };

  void checkOutput();

  const bool isFirst; ///< Only the first process prints.
  Wish own = Wish::GoOn, agreed = Wish::GoOn;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STOPPING_H
