#include "runtime/session/Quantize.h"

#include "runtime/support/Status.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {

namespace {
constexpr int64_t scannedElements = 8192;

/// The channel of each element of a parameter, in the order of elements.
class ChannelWalk {
public:
  ChannelWalk(const TensorInfo &parameter, const TensorInfo &scale,
              int64_t first)
      : shape(parameter.shape), at(shape.size()), steps(shape.size(), 0) {
    int64_t step = 1;
    for (size_t k = scale.channels.size(); k-- > 0;) {
      steps[scale.channels[k]] = step;
      step *= scale.shape[k];
    }
    for (size_t dim = shape.size(); dim-- > 0; first /= shape[dim]) {
      at[dim] = first % shape[dim];
      channel += at[dim] * steps[dim];
    }
  }

  /// Returns the channel of the next element.
  int64_t next() {
    const int64_t found = channel;
    for (size_t dim = shape.size(); dim-- > 0;) {
      channel += steps[dim];
      if (++at[dim] < shape[dim])
        break;
      channel -= steps[dim] * shape[dim];
      at[dim] = 0;
    }
    return found;
  }

private:
  const std::vector<int64_t> &shape;
  std::vector<int64_t> at, steps;
  int64_t channel = 0;
};

/// Returns the least f32 that is at least `value`.
double roundedUp(double value) {
  auto rounded = static_cast<float>(value);
  return rounded < value ? std::nextafter(rounded, INFINITY) : rounded;
}

/// Returns the largest absolute values of channels in [begin, end) of the
/// elements.
std::vector<double> largestOf(const TensorInfo &parameter,
                              const TensorInfo &scale, const Source &source,
                              int64_t begin, int64_t end) {
  std::vector<double> largest(scale.elements(), 0), values(scannedElements);
  ChannelWalk walk(parameter, scale, begin);
  for (int64_t first = begin; first < end; first += scannedElements) {
    const int64_t count = std::min(scannedElements, end - first);
    source(first, count, values.data());
    for (int64_t i = 0; i < count; ++i) {
      double &known = largest[walk.next()];
      known = std::max(known, std::fabs(values[i]));
    }
  }
  return largest;
}

double quantized(double value, double scale) {
  const double wanted = scale > 0 ? std::nearbyint(value / scale) : 0;
  return std::clamp(wanted, -largestInt8, largestInt8);
}
} // namespace

const TensorInfo *scaleOf(const Metadata &metadata, const TensorInfo &tensor) {
  return tensor.role == Role::Parameter && tensor.dtype == TSR_DTYPE_I8
             ? metadata.find(Role::Scale, tensor.name)
             : nullptr;
}

void requireWholeParameters(const Metadata &metadata, const char *what) {
  for (const TensorInfo &tensor : metadata.tensors)
    if (scaleOf(metadata, tensor))
      fail(TSR_UNSUPPORTED, tensor.describe(), " is in int8 and cannot be ",
           what, "; compile the model without --weights int8");
}

std::vector<double> channelScales(const TensorInfo &parameter,
                                  const TensorInfo &scale, const Source &source,
                                  int threads) {
  const int64_t elements = parameter.elements();
  const auto pieces = static_cast<int>(std::clamp<int64_t>(
      elements / (4 * scannedElements), 1, std::max(threads, 1)));
  std::vector<std::vector<double>> largest(pieces);
  inParallel(pieces, [&](int64_t piece) {
    largest[piece] =
        largestOf(parameter, scale, source, elements * piece / pieces,
                  elements * (piece + 1) / pieces);
  });
  std::vector<double> &scales = largest[0];
  for (int64_t channel = 0; channel < scale.elements(); ++channel) {
    for (int piece = 1; piece < pieces; ++piece)
      scales[channel] = std::max(scales[channel], largest[piece][channel]);
    const double found = roundedUp(scales[channel] / largestInt8);
    if (!std::isfinite(found))
      fail(TSR_INVALID_ARGUMENT, parameter.describe(), " has the value ",
           scales[channel], " in channel ", channel,
           "; in int8 its scale would be no finite f32");
    scales[channel] = found;
  }
  return std::move(scales);
}

/// Writes a parameter with scales.
static void writeQuantized(const Rank &rank, const TensorInfo &parameter,
                           const TensorInfo &scale, const Source &source) {
  const std::vector<double> scales =
      channelScales(parameter, scale, source, rank.threads);
  writeShard(rank, scale, [&](int64_t first, int64_t count, double *out) {
    std::copy_n(scales.begin() + first, count, out);
  });
  writeShard(rank, parameter, [&](int64_t first, int64_t count, double *out) {
    source(first, count, out);
    ChannelWalk walk(parameter, scale, first);
    for (int64_t i = 0; i < count; ++i)
      out[i] = quantized(out[i], scales[walk.next()]);
  });
}

void writeParameter(const Rank &rank, const TensorInfo &parameter,
                    const Source &source) {
  const Metadata &metadata = *rank.metadata;
  const TensorInfo *master = parameter.role == Role::Parameter
                                 ? metadata.find(Role::Master, parameter.name)
                                 : nullptr;
  if (const TensorInfo *scale = scaleOf(metadata, parameter)) {
    writeQuantized(rank, parameter, *scale, source);
    if (master)
      writeShard(rank, *master, source);
  } else if (master) {
    writeWithMaster(rank, parameter, *master, source);
  } else {
    writeShard(rank, parameter, source);
  }
}

template <class Value>
void multiplyByScales(const TensorInfo &parameter, const TensorInfo &scale,
                      const std::vector<double> &scales, Value *values) {
  ChannelWalk walk(parameter, scale, 0);
  for (int64_t i = 0; i < parameter.elements(); ++i)
    values[i] = static_cast<Value>(values[i] * scales[walk.next()]);
}
template void multiplyByScales(const TensorInfo &, const TensorInfo &,
                               const std::vector<double> &, float *);
template void multiplyByScales(const TensorInfo &, const TensorInfo &,
                               const std::vector<double> &, double *);

} // namespace tessera
