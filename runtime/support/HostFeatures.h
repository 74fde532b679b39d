//===- HostFeatures.h - does this processor have what the code needs ------===//
#ifndef TESSERA_RUNTIME_SUPPORT_HOSTFEATURES_H
#define TESSERA_RUNTIME_SUPPORT_HOSTFEATURES_H

#include <string>
#include <vector>

namespace tessera {

/// Fails with TSR_UNSUPPORTED if this processor lacks one of `features` (LLVM's
/// names, with or without '+'): better a message than SIGILL. Names it cannot
/// check pass. `cpu` is the processor that the artifact names; TESSERA_CPU
/// limits the features of this one.
void checkHostFeatures(const std::string &artifact, const std::string &cpu,
                       const std::vector<std::string> &features);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_HOSTFEATURES_H
