//===- FitRates.cpp - rates of a machine from timed calls -----------------===//
// A rate is all work of the calls that are alike by all of their time, so that
// the sum of their predictions is what was measured.
//===----------------------------------------------------------------------===//

#include "lib/Calibrate/FitRates.h"
#include "lib/Calibrate/Median.h"
#include "tessera/Simulate/Simulate.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::simulate;

namespace {

/// Work, in bytes or flops, of some calls, and their time.
struct Sums {
  double count = 0, work = 0, seconds = 0;
  void add(double callWork, double callSeconds) {
    ++count, work += callWork, seconds += callSeconds;
  }
};

/// Fits collectives, by bytes in steps of a factor of two: medians, for a rank
/// that others keep from its core holds up all.
class LinkFit {
public:
  void add(double bytes, double bandwidth) {
    Bin &bin = bins[std::lround(std::log2(bytes))];
    bin.bytes.push_back(bytes);
    bin.bandwidths.push_back(bandwidth);
  }
  SizeCurve curve() const {
    SizeCurve curve;
    for (const auto &[number, bin] : bins)
      curve.points.push_back({medianOf(bin.bytes), medianOf(bin.bandwidths)});
    return curve;
  }

private:
  struct Bin {
    std::vector<double> bytes, bandwidths;
  };
  std::map<long, Bin> bins;
};

/// Fits a curve by work, in steps of a factor of two.
class CurveFit {
public:
  void add(double work, double seconds) {
    if (work > 0)
      bins[std::lround(std::log2(work))].add(work, seconds);
  }
  SizeCurve curve() const {
    SizeCurve curve;
    for (const auto &[bin, sums] : bins)
      if (sums.seconds > 0)
        curve.points.push_back(
            {std::round(sums.work / sums.count), sums.work / sums.seconds});
    return curve;
  }

private:
  std::map<long, Sums> bins;
};

class ShapeFit {
public:
  void add(const Call &call, double flops, double seconds) {
    shapes[call.shape].add(flops, seconds);
  }
  ShapeRates rates() const {
    ShapeRates rates;
    for (const auto &[shape, sums] : shapes)
      if (sums.seconds > 0)
        rates.points.push_back(
            {{static_cast<double>(shape[0]), static_cast<double>(shape[1]),
              static_cast<double>(shape[2])},
             sums.work / sums.seconds});
    return rates;
  }

private:
  std::map<std::array<int64_t, 3>, Sums> shapes;
};

/// Attention and its gradient, whose rates are of the flops with some hidden
/// keys.
class AttentionFit {
public:
  void add(const MeasuredCall &measured) { calls.push_back(measured); }
  void fit(MeasuredRates &rates) const;

private:
  ShapeRates ratesWith(CallKind kind, double hiddenKeys) const;
  std::vector<MeasuredCall> calls;
};

/// The calls of one precision and number of threads.
class RatesFit {
public:
  void add(const MeasuredCall &measured);
  MeasuredRates rates() const;

private:
  std::array<ShapeFit, kProductForms> products; ///< One for each form.
  ShapeFit expertProducts;
  AttentionFit attention;
  CurveFit kernels, updates, routing;
  std::vector<MeasuredCall> withFunctions;
};

} // namespace

static double productFlops(const Call &call) {
  double flops = 2;
  for (int64_t size : call.shape)
    flops *= static_cast<double>(size);
  return flops;
}

/// Returns how far the rate of each shape is from what the others say of it,
/// squared.
static double scatterOf(const ShapeRates &rates) {
  double scatter = 0;
  for (size_t i = 0; i < rates.points.size(); ++i) {
    const auto &[shape, rate] = rates.points[i];
    ShapeRates others = rates;
    others.points.erase(others.points.begin() + static_cast<ptrdiff_t>(i));
    double expected = others.at(
        {std::lround(shape[0]), std::lround(shape[1]), std::lround(shape[2])});
    if (expected > 0)
      scatter += std::pow(std::log(rate / expected), 2);
  }
  return scatter;
}

ShapeRates AttentionFit::ratesWith(CallKind kind, double hiddenKeys) const {
  ShapeFit fit;
  for (const MeasuredCall &measured : calls)
    if (measured.call.kind == kind)
      fit.add(measured.call, flopsWithHidden(measured.call, hiddenKeys),
              measured.seconds);
  return fit.rates();
}

/// With the number of hidden keys with which rates depend least on the shape.
void AttentionFit::fit(MeasuredRates &rates) const {
  constexpr int64_t most = 256, step = 4;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t keys = 0; keys <= most; keys += step) {
    auto hiddenKeys = static_cast<double>(keys);
    ShapeRates forward = ratesWith(CallKind::Attention, hiddenKeys);
    ShapeRates backward = ratesWith(CallKind::AttentionGradient, hiddenKeys);
    double scatter = scatterOf(forward) + scatterOf(backward);
    if (scatter >= least)
      continue;
    least = scatter;
    rates.hiddenKeys = hiddenKeys;
    rates.attention = std::move(forward);
    rates.attentionGradient = std::move(backward);
  }
}

void RatesFit::add(const MeasuredCall &measured) {
  const Call &call = measured.call;
  double seconds = measured.seconds;
  switch (call.kind) {
  case CallKind::Product:
    if (call.experts > 0)
      return expertProducts.add(call, static_cast<double>(call.flops), seconds);
    return products[static_cast<size_t>(ratedForm(call.form))].add(
        call, productFlops(call), seconds);
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return attention.add(measured);
  case CallKind::Kernel:
    if (call.functions > 0)
      return withFunctions.push_back(measured);
    return (call.isUpdate()                  ? updates
            : call.role == CallRole::Routing ? routing
                                             : kernels)
        .add(static_cast<double>(call.bytes), seconds);
  default:
    return;
  }
}

MeasuredRates RatesFit::rates() const {
  MeasuredRates rates;
  for (auto [fit, form] : llvm::zip(products, rates.products.forms))
    form = fit.rates();
  attention.fit(rates);
  rates.expertProducts = expertProducts.rates();
  rates.kernels = kernels.curve();
  rates.updates = updates.curve();
  rates.routing = routing.curve();
  double functions = 0, seconds = 0;
  for (const MeasuredCall &measured : withFunctions) {
    auto bytes = static_cast<double>(measured.call.bytes);
    functions += static_cast<double>(measured.call.functions);
    seconds += measured.seconds - bytes / rates.kernels.at(bytes);
  }
  if (functions > 0)
    rates.function = std::max(seconds / functions, 0.0);
  return rates;
}

std::map<int64_t, Device>
tessera::fitDevices(const std::vector<MeasuredProgram> &programs) {
  std::map<std::pair<int64_t, Precision>, RatesFit> fits;
  std::map<int64_t, Sums> gaps;
  for (const MeasuredProgram &program : programs) {
    gaps[program.threads].add(1, program.betweenCalls);
    for (const MeasuredCall &call : program.calls)
      fits[{program.threads, program.precision}].add(call);
  }
  std::map<int64_t, Device> devices;
  for (const auto &[key, fit] : fits) {
    auto [threads, precision] = key;
    Device &device = devices[threads];
    const Sums &sums = gaps[threads];
    device.launch = sums.seconds / sums.count;
    MeasuredRates rates = fit.rates();
    double peak = 0;
    for (const ShapeRates &form : rates.products.forms)
      for (const ShapeRates::Point &point : form.points)
        peak = std::max(peak, point.rate);
    device.products[precision].peak = peak;
    device.measured[precision] = std::move(rates);
  }
  return devices;
}

//===----------------------------------------------------------------------===//
// The link
//===----------------------------------------------------------------------===//

/// Returns the latency of messages that move next to nothing.
static double latencyOf(const std::vector<MeasuredProgram> &programs) {
  double latency = 1;
  for (const MeasuredProgram &program : programs)
    for (const MeasuredCall &measured : program.calls)
      if (measured.call.kind == CallKind::Collective)
        latency = std::min(latency, measured.seconds);
  return latency;
}

Link tessera::fitLink(const std::vector<MeasuredProgram> &programs) {
  Link link;
  link.latency = latencyOf(programs);
  LinkFit reductions;
  std::vector<double> messages;
  std::vector<std::pair<const MeasuredCall *, double>> gathers, exchanges;
  for (const MeasuredProgram &program : programs)
    for (const MeasuredCall &measured : program.calls) {
      const Call &call = measured.call;
      // Not all of it: the curve must be above 0 for the smallest.
      double seconds =
          std::max(measured.seconds - link.latency, measured.seconds / 10);
      auto bytes = static_cast<double>(call.bytes);
      // A receive waits until its sender has computed.
      if (call.kind == CallKind::Send)
        messages.push_back(bytes / seconds);
      if (call.kind != CallKind::Collective || call.bytes == 0)
        continue;
      if (call.collective == Collective::AllReduce)
        reductions.add(
            bytes, bytes * program::ringShare(call.collective, measured.ranks) /
                       seconds);
      else if (call.collective == Collective::AllGather ||
               call.collective == Collective::ReduceScatter)
        gathers.push_back({&measured, seconds});
      else if (call.collective == Collective::AllToAll)
        exchanges.push_back({&measured, seconds});
    }
  link.collectives = reductions.curve();
  auto shareOf = [&](const auto &transfers) {
    std::vector<double> shares;
    for (auto [measured, seconds] : transfers) {
      const Call &call = measured->call;
      auto bytes = static_cast<double>(call.bytes);
      double sent =
          bytes * program::ringShare(call.collective, measured->ranks);
      shares.push_back(sent / seconds / link.collectives.at(bytes));
    }
    return shares.empty() ? 1 : medianOf(std::move(shares));
  };
  link.gatherEfficiency = std::min(shareOf(gathers), 1.0);
  link.exchangeEfficiency =
      std::max(shareOf(exchanges), Link::kLeastExchangeEfficiency);
  link.bandwidth = medianOf(std::move(messages));
  return link;
}
