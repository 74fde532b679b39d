//===- TransferRules.h - how the software runs transfers --------*- C++ -*-===//
#ifndef TESSERA_LIB_SIMULATE_TRANSFERRULES_H
#define TESSERA_LIB_SIMULATE_TRANSFERRULES_H

#include "tessera/Simulate/Simulate.h"

namespace tessera::simulate {

/// Returns whether ranks of several stages take part.
bool crossesStages(const Program &program, const Call &call);

/// When collectives and messages of a program begin, and beside what they run,
/// follows from the software of the cluster.
class TransferRules {
public:
  TransferRules(const Program &program, const Cluster &cluster)
      : program(program), cluster(cluster) {}

  /// Returns what transfers of one queue of a stage have in common. On a GPU a
  /// rank has one stream for all of them. The threads of a CPU run those that
  /// block themselves, and messages between them wait for no others.
  std::vector<int64_t> queueOf(const Call &call) const;
  /// Returns what calls have in common that belong together: sends with
  /// receives of the peer, the k-th with the k-th, and collectives over the
  /// same axes. `stage` has the call.
  std::vector<int64_t> meetingOf(int64_t stage, const Call &call) const;
  /// Returns whether the program waits where the call stands.
  bool blocks(const Call &call) const;
  /// Returns whether the software runs a collective beside all other work.
  bool isOverlapped(const Call &call) const;
  /// Returns whether the software begins a collective where Tessera waits for
  /// it.
  bool isDeferred(const Call &call) const;
  /// Returns in how many parts a collective runs beside its product; 1: all at
  /// once.
  int64_t slicesOf(const Call &call) const;

private:
  bool isCollectiveOver(const std::set<std::string> &axes,
                        const Call &call) const;

  const Program &program;
  const Cluster &cluster;
};

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_TRANSFERRULES_H
