//===- Calls.h - runs a program's lists of calls --------------------------===//
#ifndef TESSERA_RUNTIME_CALLS_H
#define TESSERA_RUNTIME_CALLS_H

#include "tessera/abi.h"

namespace tessera {

/// tsr_abi_run of every device: the frame's entries are the device's.
int32_t runCalls(const tsr_abi_frame *frame, const tsr_abi_calls *calls,
                 const int64_t *scalars) noexcept;

} // namespace tessera

#endif // TESSERA_RUNTIME_CALLS_H
