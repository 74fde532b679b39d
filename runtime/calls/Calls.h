//===- Calls.h - a program's lists of calls ---------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CALLS_CALLS_H
#define TESSERA_RUNTIME_CALLS_CALLS_H

#include "tessera/abi.h"

#include <vector>

namespace tessera {

/// Reads a list (abi.h) call by call.
class CallReader {
public:
  /// `scalars` is what the program computed for the list.
  CallReader(unsigned char *arena, const tsr_abi_calls &calls,
             const int64_t *scalars)
      : arena(arena), calls(calls), scalars(scalars),
        words(static_cast<const int64_t *>(calls.words)) {}

  /// Reads the call here, whose buffers and arguments last until the next.
  void read();
  const tsr_abi_call &call() const { return current; }
  void *const *buffers() const { return bufferTable.data(); }
  const int64_t *args() const { return arguments; }

  /// Returns where the next call lies, in words from the list's begin.
  int64_t position() const {
    return words - static_cast<const int64_t *>(calls.words);
  }
  void moveTo(int64_t position) {
    words = static_cast<const int64_t *>(calls.words) + position;
  }

private:
  void readBuffers();
  void readArguments();
  unsigned char *addressOf(int64_t word) const;

  unsigned char *arena;
  const tsr_abi_calls &calls;
  const int64_t *scalars, *words;
  tsr_abi_call current{};
  std::vector<void *> bufferTable;
  const int64_t *arguments = nullptr; ///< the list's, or `computed`
  std::vector<int64_t> computed;
};

/// A scalar of the list that a call adds to an argument or to an address.
struct ScalarUse {
  int64_t scalar;
  /// The argument that it is added to; -1: a buffer's address.
  int64_t argument;
};
/// Returns the uses by the call at `position`.
std::vector<ScalarUse> scalarsOf(const tsr_abi_calls &calls, int64_t position);

/// tsr_abi_run of every device: the frame's entries are the device's.
int32_t runCalls(const tsr_abi_frame *frame, const tsr_abi_calls *calls,
                 const int64_t *scalars) noexcept;

} // namespace tessera

#endif // TESSERA_RUNTIME_CALLS_CALLS_H
