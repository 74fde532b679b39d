//===- BuildId.h - which build of the runtime this is -----------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SUPPORT_BUILDID_H
#define TESSERA_RUNTIME_SUPPORT_BUILDID_H

#include <string>

namespace tessera {

/// Returns the number in hex that the linker has computed from the contents of
/// this library or program; "" if it has not. Two builds of one version may
/// compute other bits.
std::string buildId();

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_BUILDID_H
