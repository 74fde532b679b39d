//===- Quantize.h - parameters of i8 with scales ----------------*- C++ -*-===//
// A parameter of i8 holds integers q, and its tensor of role "scale" a factor s
// for each channel: the parameter is s q. Callers name it by its values.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_QUANTIZE_H
#define TESSERA_RUNTIME_SESSION_QUANTIZE_H

#include "runtime/session/TensorAccess.h"

namespace tessera {

/// Returns the scales of a tensor; null if it holds its values as they are.
const TensorInfo *scaleOf(const Metadata &metadata, const TensorInfo &tensor);

/// Fails with TSR_UNSUPPORTED, if parameters are integers, for what keeps all
/// bits of parameters: "saved in a checkpoint".
void requireWholeParameters(const Metadata &metadata, const char *what);

/// The largest integer of a channel, and minus the least.
constexpr double largestInt8 = 127;

/// Returns [scale.elements()]: for each channel of the whole parameter the
/// least f32 that is at least the largest absolute value of `source` there over
/// 127, so that no value is further than half of it from an integer times it.
/// TSR_INVALID_ARGUMENT if no f32 is.
std::vector<double> channelScales(const TensorInfo &parameter,
                                  const TensorInfo &scale, const Source &source,
                                  int threads);

/// Fills the rank's part of a parameter, of its master if it has one, and of
/// its scales, which are those of the whole parameter: the integers are the
/// same on every mesh. Where parameter and master are cut alike, the source
/// gives each element once. A tensor of another role is filled alone.
void writeParameter(const Rank &rank, const TensorInfo &parameter,
                    const Source &source);

/// values[i] *= the scale of element i of the parameter's channel.
template <class Value>
void multiplyByScales(const TensorInfo &parameter, const TensorInfo &scale,
                      const std::vector<double> &scales, Value *values);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_QUANTIZE_H
