//===- Calls.cpp - runs a program's lists of calls ------------------------===//

#include "Calls.h"

#include <cstring>
#include <vector>

namespace tessera {

namespace {
class Caller {
public:
  Caller(const tsr_abi_frame &frame, const tsr_abi_calls &calls,
         const int64_t *scalars)
      : frame(frame), calls(calls), scalars(scalars),
        words(static_cast<const int64_t *>(calls.words)) {}

  int32_t runNext(int64_t op) {
    tsr_abi_call call;
    std::memcpy(&call, words, sizeof call);
    words += sizeof call / sizeof *words;
    readBuffers(call);
    const int64_t *args = readArguments(call);
    return entryOf(call)(frame.context, op, buffers.data(), args);
  }

private:
  tsr_abi_entry entryOf(const tsr_abi_call &call) const {
    tsr_abi_entry entry;
    std::memcpy(&entry,
                reinterpret_cast<const char *>(frame.api) +
                    call.entry * sizeof entry,
                sizeof entry);
    return entry;
  }

  void readBuffers(const tsr_abi_call &call) {
    buffers.clear();
    if (call.kernel >= 0)
      buffers.push_back(calls.kernels[call.kernel]);
    for (const int64_t *end = words + call.buffers; words != end; ++words)
      buffers.push_back(*words == TSR_NO_BUFFER ? nullptr : addressOf(*words));
  }

  unsigned char *addressOf(int64_t word) const {
    constexpr int64_t mask = (int64_t(1) << TSR_BUFFER_OFFSET_BITS) - 1;
    return frame.arena + (word & mask) +
           scalars[word >> TSR_BUFFER_OFFSET_BITS];
  }

  const int64_t *readArguments(const tsr_abi_call &call) {
    const int64_t *known = calls.arguments + call.first;
    if (call.computed == 0)
      return known;
    args.assign(known, known + call.arguments);
    for (const int64_t *end = words + call.computed; words != end; ++words)
      args[*words & 0xffffffff] += scalars[*words >> 32];
    return args.data();
  }

  const tsr_abi_frame &frame;
  const tsr_abi_calls &calls;
  const int64_t *scalars, *words;
  std::vector<void *> buffers;
  std::vector<int64_t> args;
};
} // namespace

int32_t runCalls(const tsr_abi_frame *frame, const tsr_abi_calls *calls,
                 const int64_t *scalars) noexcept {
  Caller caller(*frame, *calls, scalars);
  for (int64_t i = 0; i < calls->count; ++i)
    if (int32_t status = caller.runNext(calls->first_op + i))
      return status;
  return 0;
}

} // namespace tessera
