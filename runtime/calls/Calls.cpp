//===- Calls.cpp - a program's lists of calls -----------------------------===//

#include "runtime/calls/Calls.h"

#include "tessera/tessera.h"

#include <cstring>
#include <new>

namespace tessera {

static constexpr int64_t callWords = sizeof(tsr_abi_call) / sizeof(int64_t);
static constexpr int64_t offsetMask =
    (int64_t(1) << TSR_BUFFER_OFFSET_BITS) - 1;
static constexpr int64_t argumentMask = 0xffffffff;
static constexpr int argumentBits = 32;

void CallReader::read() {
  std::memcpy(&current, words, sizeof current);
  words += callWords;
  readBuffers();
  readArguments();
}

void CallReader::readBuffers() {
  bufferTable.clear();
  if (current.kernel >= 0)
    bufferTable.push_back(calls.kernels[current.kernel]);
  for (const int64_t *end = words + current.buffers; words != end; ++words)
    bufferTable.push_back(*words == TSR_NO_BUFFER ? nullptr
                                                  : addressOf(*words));
}

unsigned char *CallReader::addressOf(int64_t word) const {
  return arena + (word & offsetMask) + scalars[word >> TSR_BUFFER_OFFSET_BITS];
}

void CallReader::readArguments() {
  arguments = calls.arguments + current.first;
  if (current.computed == 0)
    return;
  computed.assign(arguments, arguments + current.arguments);
  for (const int64_t *end = words + current.computed; words != end; ++words)
    computed[*words & argumentMask] += scalars[*words >> argumentBits];
  arguments = computed.data();
}

std::vector<ScalarUse> scalarsOf(const tsr_abi_calls &calls, int64_t position) {
  const int64_t *words = static_cast<const int64_t *>(calls.words) + position;
  tsr_abi_call call;
  std::memcpy(&call, words, sizeof call);
  words += callWords;
  std::vector<ScalarUse> uses;
  for (const int64_t *end = words + call.buffers; words != end; ++words)
    if (*words != TSR_NO_BUFFER && *words >> TSR_BUFFER_OFFSET_BITS)
      uses.push_back({*words >> TSR_BUFFER_OFFSET_BITS, -1});
  for (const int64_t *end = words + call.computed; words != end; ++words)
    uses.push_back({*words >> argumentBits, *words & argumentMask});
  return uses;
}

static tsr_abi_entry entryOf(const tsr_abi_api &api, int32_t number) {
  tsr_abi_entry entry;
  std::memcpy(&entry,
              reinterpret_cast<const char *>(&api) + number * sizeof entry,
              sizeof entry);
  return entry;
}

int32_t runCalls(const tsr_abi_frame *frame, const tsr_abi_calls *calls,
                 const int64_t *scalars) noexcept try {
  CallReader reader(frame->arena, *calls, scalars);
  for (int64_t i = 0; i < calls->count; ++i) {
    reader.read();
    tsr_abi_entry entry = entryOf(*frame->api, reader.call().entry);
    if (int32_t status = entry(frame->context, calls->first_op + i,
                               reader.buffers(), reader.args()))
      return status;
  }
  return 0;
} catch (const std::bad_alloc &) {
  return TSR_OUT_OF_MEMORY;
}

} // namespace tessera
