//===- GemmCache.h - oneDNN primitives, made once per product ---*- C++ -*-===//
// Making a matmul primitive takes milliseconds, running one must not pay for
// it. Each thread has its own cache: no lock, and the memory objects,
// whose pointers change from call to call, are not shared.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_GEMMCACHE_H
#define TESSERA_RUNTIME_CPU_GEMMCACHE_H

#include "runtime/cpu/GemmProblem.h"
#include "runtime/cpu/Workspace.h"

#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>

namespace tessera {

/// A matmul primitive with the memory objects it runs on.
class CachedGemm {
public:
  explicit CachedGemm(const GemmProblem &p);

  size_t scratchBytes() const { return scratchpad.get_desc().get_size(); }
  void run(const GemmProblem &p, void *scratch);

private:
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias, scratchpad;
  std::unordered_map<int, dnnl::memory> arguments;
};

class GemmCache {
public:
  /// Returns the calling thread's cache.
  static GemmCache &ofThisThread();

  /// Runs `p` on the calling thread's OpenMP setting. Throws dnnl::error and
  /// std::bad_alloc.
  void run(const GemmProblem &p);
  size_t size() const { return primitives.size(); }

private:
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                         int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                         bool, bool, bool, bool>;
  static Key keyOf(const GemmProblem &p);

  std::map<Key, std::unique_ptr<CachedGemm>> primitives;
  Workspace workspace;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_GEMMCACHE_H
