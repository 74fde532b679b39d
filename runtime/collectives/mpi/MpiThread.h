//===- MpiThread.h - the thread that starts and ends an MPI -----*- C++ -*-===//
// A call of an MPI that waits for processes which do not come never returns. It
// runs in a thread of its own, so that the caller can give up. It is one thread
// for all such calls, since an MPI is ended by the thread that has started it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_MPI_MPITHREAD_H
#define TESSERA_RUNTIME_COLLECTIVES_MPI_MPITHREAD_H

#include <chrono>
#include <functional>

namespace tessera {

/// Runs a call in that thread and throws what it throws. Returns false if it
/// has not returned in time. It then goes on, with what it has captured, and no
/// other call is made: the process can only end.
bool runInMpiThread(std::function<void()> call,
                    std::chrono::milliseconds timeout);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_MPI_MPITHREAD_H
