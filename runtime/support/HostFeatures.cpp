#include "runtime/support/HostFeatures.h"

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
#undef TSR_CHECK
  return false;
}
#else
static bool isMissing(const std::string &) { return false; }
#endif

void checkHostFeatures(const std::string &artifact,
                       const std::vector<std::string> &features) {
  for (const std::string &feature : features) {
    if (feature.empty() || feature[0] == '-')
      continue;
    if (isMissing(feature[0] == '+' ? feature.substr(1) : feature))
      fail(TSR_UNSUPPORTED, "'", artifact, "' needs the processor feature '",
           feature, "', which this machine lacks; compile it for this machine");
  }
}

} // namespace tessera
