//===- AttentionArguments.h - one call of attention -------------*- C++ -*-===//
// abi_attention.def and abi_cached_attention.def as structs, of which the
// entries, the CPU's problems and the GPU's calls are made. abi_arguments.h
// says what the arguments mean.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_ATTENTIONARGUMENTS_H
#define TESSERA_RUNTIME_CPU_ATTENTIONARGUMENTS_H

#include "tessera/abi_arguments.h"

#include <cstdint>
#include <cstring>

namespace tessera {

/// Sizes and strides in elements.
struct AttentionArguments {
#define TSR_ATTENTION_ARGUMENT(NAME, name, TYPE) TYPE name;
#include "tessera/abi_attention.def"

  /// Returns whether the keys are a slice: results are sums over slices.
  bool isSlice() const { return keysTotal != 0; }
  /// Returns the keys of which these are a slice, or these.
  int64_t allKeys() const { return isSlice() ? keysTotal : seqK; }
  /// Returns the position of query 0, counted from key 0; negative where query
  /// 0 lies before a slice of the keys.
  int64_t firstQuery() const { return queryStart - keyStart; }
  /// Returns how many query heads share a key/value head.
  int64_t group() const { return heads / kvHeads; }
  /// Returns the window, or 0 where it hides no key from any query.
  int64_t activeWindow() const {
    return causal && firstQuery() + seqQ > window ? window : 0;
  }
  /// Returns whether no query sees any key: all are later, or out of the
  /// window.
  bool isHidden() const {
    const int64_t active = activeWindow();
    return causal && (firstQuery() + seqQ <= 0 ||
                      (active != 0 && firstQuery() - active >= seqK - 1));
  }
};

/// A call of attention over caches; sizes and strides in elements.
struct CachedAttentionArguments {
#define TSR_CACHED_ATTENTION_ARGUMENT(NAME, name, TYPE) TYPE name;
#include "tessera/abi_cached_attention.def"
};

namespace detail {
inline void decode(int64_t word, int64_t *out) { *out = word; }
inline void decode(int64_t word, bool *out) { *out = word != 0; }
inline void decode(int64_t word, double *out) {
  std::memcpy(out, &word, sizeof word);
}
} // namespace detail

/// The arguments of a call as they are given, unchecked.
inline AttentionArguments attentionArguments(const int64_t *args) {
  AttentionArguments a;
#define TSR_ATTENTION_ARGUMENT(NAME, name, TYPE)                               \
  detail::decode(args[TSR_ATTENTION_##NAME], &a.name);
#include "tessera/abi_attention.def"
  return a;
}

inline CachedAttentionArguments cachedAttentionArguments(const int64_t *args) {
  CachedAttentionArguments a;
#define TSR_CACHED_ATTENTION_ARGUMENT(NAME, name, TYPE)                        \
  detail::decode(args[TSR_CACHED_ATTENTION_##NAME], &a.name);
#include "tessera/abi_cached_attention.def"
  return a;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_ATTENTIONARGUMENTS_H
