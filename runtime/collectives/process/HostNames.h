//===- HostNames.h - names that tell hosts apart ----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTNAMES_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTNAMES_H

#include <string>

namespace tessera {

/// Returns a name that tells machines apart, but not containers of one machine.
std::string machineName();
/// Returns a name that tells networks apart: of machines, and of containers
/// that have their own.
std::string networkName();

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_HOSTNAMES_H
