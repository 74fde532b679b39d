//===- MpiMeeting.h - the processes of an MPI -------------------*- C++ -*-===//
// An MPI knows its processes, so it can tell them where to meet, and a secret:
// nobody needs to name an address or to hand out a key.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_MPI_MPIMEETING_H
#define TESSERA_RUNTIME_COLLECTIVES_MPI_MPIMEETING_H

#include "runtime/collectives/mpi/MpiPlugin.h"

#include <chrono>

namespace tessera {

/// This process's place among those of the MPI.
struct MpiMembership {
  MpiPlugin plugin;
  int64_t rank = 0, size = 1;
  std::string rendezvous; ///< "HOST:PORT", where rank 0 can listen
  std::string secret;     ///< made for this run; "" if the build has none
};

/// Starts the MPI, once in a process; collective. `size` and `rank` are what
/// the launcher says, size 0 if it says nothing. TSR_NOT_FOUND, TSR_MISMATCH:
/// the MPI says something else, as another one's mpirun has started the
/// process; TSR_UNSUPPORTED: it takes no calls of several threads; TSR_TIMEOUT:
/// not all processes have come, and this one can only end.
const MpiMembership &startMpi(int64_t size, int64_t rank,
                              std::chrono::milliseconds timeout);
/// Returns the membership, or null if no MPI was started.
const MpiMembership *startedMpi();
/// Ends the MPI if it was started; collective. TSR_TIMEOUT, likewise.
void finishMpi();

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_MPI_MPIMEETING_H
