//===- LossSpikes.h - losses far above those before -------------*- C++ -*-===//
// Most runs that diverge say so first: a loss leaps. It is noted, and nothing
// else happens.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_LOSSSPIKES_H
#define TESSERA_TOOLS_TESSERA_TRAIN_LOSSSPIKES_H

#include <deque>
#include <optional>

namespace tessera {

/// A loss is a spike if it is above the mean of the last 100 by more than 5 of
/// their standard deviations, of which one counts as at least 1 % of the mean:
/// losses that hardly differ have no spikes. Of fewer than 20 losses nothing is
/// said.
class LossSpikes {
public:
  struct Spike {
    double mean, deviation; ///< Mean and deviation of the losses before.
  };
  /// Takes the next loss; one that is not finite counts for nothing.
  std::optional<Spike> add(double loss);

private:
  Spike statistics() const;

  std::deque<double> window;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_LOSSSPIKES_H
