#include "runtime/session/Initializer.h"

#include "runtime/cpu/CpuKernels.h"
#include "runtime/session/Quantize.h"
#include "runtime/support/Philox.h"

#include <algorithm>
#include <cmath>

namespace tessera {

static double wave(const Initial &init, int64_t index) {
  int64_t count = static_cast<int64_t>(init.frequencies.size());
  double angle = static_cast<double>(index / count) *
                 init.frequencies[static_cast<size_t>(index % count)];
  return init.scale *
         (init.kind == Initial::Cosines ? std::cos(angle) : std::sin(angle));
}

static constexpr double wordScale = 1.0 / 4294967296.0;

static double normal(const Initial &init, uint32_t word1, uint32_t word2) {
  constexpr double twoPi = 6.28318530717958647692;
  double u1 = (word1 + 1.0) * wordScale;
  double u2 = word2 * wordScale;
  double z = std::sqrt(-2 * std::log(u1)) * std::cos(twoPi * u2);
  return init.mean + init.std * z;
}

double initialValue(const Initial &init, uint64_t key, int64_t index) {
  if (init.kind == Initial::Cosines || init.kind == Initial::Sines)
    return wave(init, index);
  if (init.kind == Initial::Uniform)
    return init.bound *
           (2 * (philox(static_cast<uint64_t>(index), key) + 0.5) * wordScale -
            1);
  if (init.kind != Initial::Normal)
    return init.kind == Initial::Ones ? 1 : 0;
  if (index >= init.zerosBegin && index < init.zerosEnd)
    return 0;
  uint64_t counter = 2 * static_cast<uint64_t>(index);
  return normal(init, philox(counter, key), philox(counter + 1, key));
}

void initialValues(const Initial &init, uint64_t key, int64_t first,
                   int64_t count, double *values) {
  if (init.kind != Initial::Normal) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = initialValue(init, key, first + i);
    return;
  }
  constexpr int64_t drawn = 512;
  uint32_t words[2 * drawn];
  for (int64_t done = 0; done < count; done += drawn) {
    const int64_t length = std::min(drawn, count - done);
    cpuKernels().philoxRange(2 * static_cast<uint64_t>(first + done),
                             2 * length, key, words);
    for (int64_t i = 0; i < length; ++i)
      values[done + i] = normal(init, words[2 * i], words[2 * i + 1]);
  }
  const int64_t begin = std::max(init.zerosBegin, first);
  const int64_t end = std::min(init.zerosEnd, first + count);
  if (begin < end)
    std::fill(values + (begin - first), values + (end - first), 0.0);
}

static const Initial &initialOf(const TensorInfo &parameter) {
  if (!parameter.init)
    fail(TSR_INVALID_ARGUMENT, parameter.describe(),
         " has no initial value in the artifact; load weights instead");
  return *parameter.init;
}

void drawParameter(const Rank &rank, const TensorInfo &parameter,
                   int64_t seed) {
  const Initial &init = initialOf(parameter);
  uint64_t key = tsr_abi_stream(seed, -1, init.stream);
  auto source = [&](int64_t first, int64_t count, double *out) {
    initialValues(init, key, first, count, out);
  };
  writeParameter(rank, parameter, source);
}

void initializeState(const Rank &rank, int64_t seed) {
  for (const TensorInfo &tensor : rank.metadata->tensors)
    if (tensor.role == Role::Parameter)
      drawParameter(rank, tensor, seed);
  zeroMoments(rank);
}

void fillTables(const Rank &rank) {
  for (const TensorInfo &tensor : rank.metadata->tensors) {
    if (tensor.role != Role::Input || !tensor.init)
      continue;
    auto source = [&](int64_t first, int64_t count, double *out) {
      initialValues(*tensor.init, 0, first, count, out);
    };
    writeShard(rank, tensor, source);
  }
}

void zeroMoments(const Rank &rank) {
  for (const TensorInfo &tensor : rank.metadata->tensors)
    if (tensor.role == Role::Moment1 || tensor.role == Role::Moment2)
      zeroTensor(rank, tensor);
}

} // namespace tessera
