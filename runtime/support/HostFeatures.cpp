#include "runtime/support/HostFeatures.h"

#include "runtime/support/CpuPath.h"
#include "runtime/support/Status.h"

namespace tessera {

#if defined(__x86_64__)
static bool isMissing(const std::string &name) {
  // The builtin takes literals only.
#define TSR_CHECK(feature)                                                     \
  if (name == feature)                                                         \
    return !__builtin_cpu_supports(feature);
  TSR_CHECK("sse4.2")
  TSR_CHECK("avx")
  TSR_CHECK("avx2")
  TSR_CHECK("fma")
  TSR_CHECK("bmi2")
  TSR_CHECK("avx512f")
  TSR_CHECK("avx512bw")
  TSR_CHECK("avx512cd")
  TSR_CHECK("avx512dq")
  TSR_CHECK("avx512vl")
  TSR_CHECK("avx512vnni")
  TSR_CHECK("avx512bf16")
  TSR_CHECK("avx512vbmi")
  TSR_CHECK("avx512vbmi2")
  TSR_CHECK("avx512ifma")
#undef TSR_CHECK
  return false;
}
#else
static bool isMissing(const std::string &) { return false; }
#endif

/// Returns whether a feature is beyond the path of this process.
static bool isBeyondPath(const std::string &name) {
  const CpuPath path = cpuPath();
  if (name.rfind("amx", 0) == 0)
    return path < CpuPath::Amx;
  if (name == "avx512bf16")
    return path < CpuPath::Avx512Bf16;
  if (name.rfind("avx512", 0) == 0)
    return path < CpuPath::Avx512;
  return (name == "avx" || name == "avx2" || name == "fma") &&
         path < CpuPath::Avx2;
}

void checkHostFeatures(const std::string &artifact, const std::string &cpu,
                       const std::vector<std::string> &features) {
  for (const std::string &feature : features) {
    if (feature.empty() || feature[0] == '-')
      continue;
    const std::string name = feature[0] == '+' ? feature.substr(1) : feature;
    if (isMissing(name) || (isCpuPathChosen() && isBeyondPath(name)))
      fail(TSR_UNSUPPORTED, "'", artifact, "' is compiled for '", cpu,
           "' and needs the processor feature '", feature,
           "', which this machine (", nameOf(cpuPath()),
           isCpuPathChosen() ? ", by TESSERA_CPU" : "",
           ") lacks; compile it for this machine");
  }
}

} // namespace tessera
