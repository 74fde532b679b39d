//===- TcpEngine.h - bytes of calls over sockets ----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPENGINE_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPENGINE_H

#include "runtime/collectives/process/ProcessEngine.h"

namespace tessera {

struct ProcessLinks;

/// Makes the engine of connections, which it takes from the links; their
/// control connections stay.
std::unique_ptr<Engine> makeTcpEngine(ProcessLinks &links);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPENGINE_H
