//===- MpiEngine.h - bytes of calls as messages of an MPI -------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_MPI_MPIENGINE_H
#define TESSERA_RUNTIME_COLLECTIVES_MPI_MPIENGINE_H

#include "runtime/collectives/mpi/MpiPlugin.h"
#include "runtime/collectives/process/ProcessEngine.h"

namespace tessera {

/// Makes the engine of an MPI that has been started. `isCrowded`: there are
/// more processes than cores on this machine, so waits give way at once. There
/// is one at a time. TSR_INVALID_ARGUMENT: there is another.
std::unique_ptr<Engine> makeMpiEngine(const MpiPlugin &plugin, bool isCrowded);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_MPI_MPIENGINE_H
