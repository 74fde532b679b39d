//===- Api.h - what the C API's opaque structs hold -------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_API_API_H
#define TESSERA_RUNTIME_API_API_H

#include "runtime/session/Session.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>

struct tsr_artifact {
  tessera::Artifact content;
};

struct tsr_session {
  tsr_session(const tessera::Artifact &artifact,
              const tessera::SessionOptions &options)
      : content(artifact, options) {}
  tessera::Session content;
};

namespace tessera {

inline void requirePointer(const void *pointer, const char *name) {
  if (!pointer)
    fail(TSR_INVALID_ARGUMENT, name, " is null");
}

/// Returns an option struct of an older or newer caller, cut or zero-extended
/// to ours.
template <class Options>
Options takeOptions(const Options *options, const char *name) {
  Options own{};
  own.size = sizeof own;
  if (!options)
    return own;
  if (options->size < sizeof(size_t) || options->size > 4096)
    fail(TSR_INVALID_ARGUMENT, name, ".size is ", options->size,
         ", set it to sizeof(", name, ") = ", sizeof own);
  std::memcpy(&own, options, std::min(options->size, sizeof own));
  return own;
}

/// Returns checked options; the defaults if `given` is null.
SessionOptions takeSessionOptions(const tsr_session_options *given);

} // namespace tessera

#endif // TESSERA_RUNTIME_API_API_H
