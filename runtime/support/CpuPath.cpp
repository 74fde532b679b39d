#include "runtime/support/CpuPath.h"

#include <cstdlib>
#include <optional>

namespace tessera {

static constexpr const char *kNames[] = {
#define TSR_CPU_PATH(ENUMERATOR, NAME, CPU, FEATURES) NAME,
#include "tessera/abi_cpu.def"
#undef TSR_CPU_PATH
};

const char *nameOf(CpuPath path) { return kNames[static_cast<int>(path)]; }

CpuPath bestCpuPath() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return CpuPath::Baseline;
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") ||
      !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl"))
    return CpuPath::Avx2;
  if (!__builtin_cpu_supports("avx512bf16"))
    return CpuPath::Avx512;
  return __builtin_cpu_supports("amx-bf16") ? CpuPath::Amx
                                            : CpuPath::Avx512Bf16;
#else
  return CpuPath::Baseline;
#endif
}

static std::string wanted() {
  const char *text = std::getenv(kCpuVariable);
  return text ? text : "";
}

static std::optional<CpuPath> pathOf(const std::string &name) {
  for (int i = 0; i <= static_cast<int>(bestCpuPath()); ++i)
    if (name == kNames[i])
      return static_cast<CpuPath>(i);
  return std::nullopt;
}

static std::string problemOf(const std::string &name) {
  if (name.empty() || pathOf(name))
    return "";
  std::string all;
  for (int i = 0; i <= static_cast<int>(bestCpuPath()); ++i)
    all += (i ? ", " : "") + std::string(kNames[i]);
  bool isKnown = false;
  for (const char *known : kNames)
    isKnown |= name == known;
  return std::string(kCpuVariable) + " is '" + name + "', " +
         (isKnown ? "which this processor lacks" : "which is no path") +
         "; use one of " + all + ", or unset it";
}

std::string cpuPathProblem() {
  static const std::string problem = problemOf(wanted());
  return problem;
}

bool isCpuPathChosen() {
  static const bool isChosen = pathOf(wanted()).has_value();
  return isChosen;
}

CpuPath cpuPath() {
  static const CpuPath path = pathOf(wanted()).value_or(bestCpuPath());
  return path;
}

} // namespace tessera
