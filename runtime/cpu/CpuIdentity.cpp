#include "runtime/cpu/CpuIdentity.h"

#include "runtime/cpu/GemmProblem.h"
#include "runtime/support/CpuPath.h"

#include <oneapi/dnnl/dnnl.h>
#include <sstream>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

using namespace tessera;

#if defined(__x86_64__)
/// Adds family, model and features, but not which core asks (leaf 1, ebx).
static void addProcessor(std::ostream &out) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d))
    out << b << '.' << d << '.' << c;
  if (__get_cpuid(1, &a, &b, &c, &d))
    out << ' ' << a << '.' << c << '.' << d;
  for (unsigned leaf : {0u, 1u})
    if (__get_cpuid_count(7, leaf, &a, &b, &c, &d))
      out << ' ' << (leaf ? a : 0) << '.' << b << '.' << c << '.' << d;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    out << ' ' << c << '.' << d;
}
#else
static void addProcessor(std::ostream &out) { out << "other"; }
#endif

std::string tessera::cpuIdentity() {
  std::ostringstream out;
  out << nameOf(cpuPath()) << ' ' << std::hex;
  addProcessor(out);
  out << std::dec << " cache " << sysconf(_SC_LEVEL1_DCACHE_SIZE) << '.'
      << sysconf(_SC_LEVEL2_CACHE_SIZE) << '.'
      << sysconf(_SC_LEVEL3_CACHE_SIZE);
  const dnnl_version_t *version = dnnl_version();
  out << " onednn " << version->major << '.' << version->minor << '.'
      << version->patch << " isa " << libraryIsa();
#if defined(__GLIBC__)
  out << " glibc " << gnu_get_libc_version();
#endif
  return out.str();
}
