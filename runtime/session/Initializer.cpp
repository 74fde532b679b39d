#include "runtime/session/Initializer.h"

#include "runtime/session/Quantize.h"
#include "runtime/support/Philox.h"

#include <cmath>

namespace tessera {

static double wave(const Initial &init, int64_t index) {
  int64_t count = static_cast<int64_t>(init.frequencies.size());
  double angle = static_cast<double>(index / count) *
                 init.frequencies[static_cast<size_t>(index % count)];
  return init.scale *
         (init.kind == Initial::Cosines ? std::cos(angle) : std::sin(angle));
}

double initialValue(const Initial &init, uint64_t key, int64_t index) {
  if (init.kind == Initial::Cosines || init.kind == Initial::Sines)
    return wave(init, index);
  constexpr double scale = 1.0 / 4294967296.0;
  if (init.kind == Initial::Uniform)
    return init.bound *
           (2 * (philox(static_cast<uint64_t>(index), key) + 0.5) * scale - 1);
  if (init.kind != Initial::Normal)
    return init.kind == Initial::Ones ? 1 : 0;
  constexpr double twoPi = 6.28318530717958647692;
  uint64_t counter = 2 * static_cast<uint64_t>(index);
  double u1 = (philox(counter, key) + 1.0) * scale;
  double u2 = philox(counter + 1, key) * scale;
  double z = std::sqrt(-2 * std::log(u1)) * std::cos(twoPi * u2);
  return init.mean + init.std * z;
}

int roundedVia(const Metadata &metadata, const TensorInfo &tensor) {
  if (tensor.role != Role::Parameter)
    return -1;
  const TensorInfo *master = metadata.find(Role::Master, tensor.name);
  return master ? master->dtype : -1;
}

static const Initial &initialOf(const Metadata &metadata,
                                const TensorInfo &tensor) {
  const TensorInfo *parameter = metadata.find(Role::Parameter, tensor.name);
  if (!parameter->init)
    fail(TSR_INVALID_ARGUMENT, parameter->describe(),
         " has no initial value in the artifact; load weights instead");
  return *parameter->init;
}

void drawTensor(const Rank &rank, const TensorInfo &tensor, int64_t seed) {
  const Initial &init = initialOf(*rank.metadata, tensor);
  uint64_t key = tsr_abi_stream(seed, -1, init.stream);
  auto source = [&](int64_t first, int64_t count, double *out) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = initialValue(init, key, first + i);
  };
  writeParameter(rank, tensor, source, roundedVia(*rank.metadata, tensor));
}

void initializeState(const Rank &rank, int64_t seed) {
  for (const TensorInfo &tensor : rank.metadata->tensors)
    if (tensor.role == Role::Parameter || tensor.role == Role::Master)
      drawTensor(rank, tensor, seed);
  zeroMoments(rank);
}

void fillTables(const Rank &rank) {
  for (const TensorInfo &tensor : rank.metadata->tensors) {
    if (tensor.role != Role::Input || !tensor.init)
      continue;
    auto source = [&](int64_t first, int64_t count, double *out) {
      for (int64_t i = 0; i < count; ++i)
        out[i] = initialValue(*tensor.init, 0, first + i);
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
