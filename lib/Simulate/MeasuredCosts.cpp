//===- MeasuredCosts.cpp - seconds of calls on a measured CPU -------------===//

#include "lib/Simulate/MeasuredCosts.h"
#include "tessera/Simulate/Simulate.h"
#include <algorithm>

using namespace tessera;
using namespace tessera::simulate;

double tessera::simulate::flopsWithHidden(const Call &call, double hiddenKeys) {
  double products = call.kind == CallKind::Attention ? 2 : 5;
  double ofKey = 2 * products * static_cast<double>(call.shape[0]) *
                 static_cast<double>(call.shape[2]);
  double all = ofKey * static_cast<double>(call.shape[1]);
  auto flops = static_cast<double>(call.flops);
  return std::max(flops, std::min(all, flops + ofKey * hiddenKeys));
}

static double secondsOfAttention(const Call &call, const Program &program,
                                 const MeasuredRates &rates) {
  const ShapeRates &byShape = call.kind == CallKind::Attention
                                  ? rates.attention
                                  : rates.attentionGradient;
  return flopsWithHidden(call, rates.hiddenKeys) * program.causalImbalance /
         byShape.at(call.shape);
}

static double secondsOfProduct(const Call &call, const MeasuredRates &rates) {
  if (call.experts > 0)
    return static_cast<double>(call.flops) /
           rates.expertProducts.at(call.shape);
  double flops = 2;
  for (int64_t size : call.shape)
    flops *= static_cast<double>(size);
  return flops / rates.products.of(ratedForm(call.form)).at(call.shape);
}

static double secondsOfKernel(const Call &call, const MeasuredRates &rates) {
  if (call.bytes == 0)
    return 0;
  const SizeCurve &curve = call.isUpdate()                  ? rates.updates
                           : call.role == CallRole::Routing ? rates.routing
                                                            : rates.kernels;
  auto bytes = static_cast<double>(call.bytes);
  return bytes / curve.at(bytes) +
         static_cast<double>(call.functions) * rates.function;
}

double tessera::simulate::secondsOfMeasured(const Call &call,
                                            const Program &program,
                                            const MeasuredRates &rates) {
  switch (call.kind) {
  case CallKind::Kernel:
    return secondsOfKernel(call, rates);
  case CallKind::Product:
    return secondsOfProduct(call, rates);
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return secondsOfAttention(call, program, rates);
  case CallKind::Collective:
  case CallKind::Send:
  case CallKind::Receive:
  case CallKind::Wait:
    break;
  }
  return 0;
}
