//===- FitGpu.cpp - a cluster of GPUs from timed calls --------------------===//
// One number after the other: kernels give the memory's bandwidth and the cost
// of a call, products then their rates, attention then its share of these.
//===----------------------------------------------------------------------===//

#include "lib/Calibrate/FitGpu.h"
#include "lib/Calibrate/FitRates.h"
#include "lib/Calibrate/Median.h"
#include "tessera/Simulate/Simulate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace tessera;
using namespace tessera::simulate;
using llvm::Error;
using llvm::Expected;

namespace {

/// Calls that cost the same, and the median of their times.
struct Point {
  Call call;
  double seconds;
};

/// The result of a search.
struct Least {
  double at = 0;
  double cost = std::numeric_limits<double>::infinity();
};

} // namespace

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static bool isAttention(CallKind kind) {
  return kind == CallKind::Attention || kind == CallKind::AttentionGradient;
}

/// Returns the properties on which the cost of a call depends.
static auto keyOf(const Call &call) {
  return std::make_tuple(call.kind, call.shape, call.experts,
                         call.kind == CallKind::Kernel ? call.bytes
                                                       : call.resultBytes,
                         isAttention(call.kind) ? call.flops : 0);
}

/// A call costs the time until the next one begins, as in the simulation.
static std::vector<Point>
pointsOf(const std::vector<MeasuredProgram> &programs,
         llvm::function_ref<bool(Precision, CallKind)> isWanted) {
  std::map<decltype(keyOf(Call())), std::pair<Call, std::vector<double>>> found;
  for (const MeasuredProgram &program : programs)
    for (const MeasuredCall &measured : program.calls) {
      double seconds = measured.seconds + program.betweenCalls;
      if (!isWanted(program.precision, measured.call.kind) || !(seconds > 0))
        continue;
      auto &[call, times] = found[keyOf(measured.call)];
      call = measured.call;
      times.push_back(seconds);
    }
  std::vector<Point> points;
  for (auto &[key, entry] : found)
    points.push_back({entry.first, medianOf(std::move(entry.second))});
  return points;
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

static Program programIn(Precision precision, int64_t ranks = 1) {
  Program program;
  program.mesh = {{"pp", ranks}};
  program.stages.resize(1);
  program.precision = precision;
  return program;
}

/// Sum of squares of what the logarithms of times are wrong by.
static double errorOf(const std::vector<Point> &points, const Program &program,
                      const Cluster &cluster) {
  double sum = 0;
  for (const Point &point : points) {
    // A call that is free in the simulation is as good as one of a nanosecond.
    double predicted =
        std::max(secondsOf(point.call, program, 0, cluster), 1e-9);
    double error = std::log(predicted / point.seconds);
    sum += error * error;
  }
  return sum;
}

/// Finds where `cost` is least: the best of equidistant points, and then a
/// golden section between its neighbours.
static Least leastBetween(double low, double high,
                          llvm::function_ref<double(double)> cost) {
  Least best;
  auto look = [&](double at) {
    double found = cost(at);
    if (found < best.cost)
      best = {at, found};
    return found;
  };
  constexpr int steps = 32;
  double step = (high - low) / steps;
  for (int i = 0; i <= steps; ++i)
    look(low + step * i);
  if (step <= 0)
    return best;
  double left = std::max(best.at - step, low);
  double right = std::min(best.at + step, high);
  const double golden = (std::sqrt(5) - 1) / 2;
  double a = right - golden * (right - left),
         b = left + golden * (right - left);
  double costOfA = look(a), costOfB = look(b);
  for (int i = 0; i < 40; ++i) {
    if (costOfA <= costOfB) {
      right = b, b = a, costOfB = costOfA;
      costOfA = look(a = right - golden * (right - left));
    } else {
      left = a, a = b, costOfA = costOfB;
      costOfB = look(b = left + golden * (right - left));
    }
  }
  return best;
}

/// Rounds a value to the four digits that are known.
static double rounded(double value) {
  if (!(value > 0))
    return 0;
  double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  // A power of ten below 1 is no exact number, its inverse is.
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

static Error notTimed(const std::string &what) {
  return llvm::createStringError(
      "the traces hold no time of " + what +
      "; run tessera calibrate again without --quick, on a GPU that nothing "
      "else uses");
}

static Error fitMemory(const std::vector<MeasuredProgram> &programs,
                       Cluster &cluster) {
  std::vector<Point> points = pointsOf(programs, [](Precision, CallKind kind) {
    return kind == CallKind::Kernel;
  });
  double least = std::numeric_limits<double>::infinity();
  double slowest = least, fastest = 0;
  for (const Point &point : points) {
    least = std::min(least, point.seconds);
    if (point.call.bytes == 0)
      continue;
    slowest = std::min(slowest,
                       static_cast<double>(point.call.bytes) / point.seconds);
    fastest = std::max(fastest,
                       static_cast<double>(point.call.bytes) / point.seconds);
  }
  if (fastest == 0)
    return notTimed("a kernel that moves bytes");
  Program program = programIn(Precision::F32); // kernels have none
  Device &device = cluster.device;
  device.memoryEfficiency = 1;
  auto bandwidthAt = [&](double launch) {
    device.launch = launch;
    return leastBetween(std::log(slowest), std::log(fastest * 4),
                        [&](double x) {
                          device.memoryBandwidth = std::exp(x);
                          return errorOf(points, program, cluster);
                        });
  };
  device.launch = leastBetween(0, 2 * least, [&](double launch) {
                    return bandwidthAt(launch).cost;
                  }).at;
  double fitted = std::exp(bandwidthAt(device.launch).at);
  device.launch = rounded(device.launch);
  device.memoryBandwidth = rounded(std::max(fitted, fastest));
  device.memoryEfficiency =
      std::min(rounded(fitted / device.memoryBandwidth), 1.0);
  return Error::success();
}

/// Returns the tiles into which libraries of products cut results; the set that
/// fits best is taken.
static std::vector<std::vector<Tile>> tileSets() {
  return {{{128, 256}, {256, 128}},
          {{128, 256}, {256, 128}, {128, 128}},
          {{256, 128}, {128, 128}, {64, 128}, {128, 64}, {64, 64}}};
}

static double flopsOf(const Call &call) {
  double flops = 2 * static_cast<double>(std::max<int64_t>(call.experts, 1));
  for (int64_t size : call.shape)
    flops *= static_cast<double>(size);
  return flops;
}

/// The rate that suits these products best, with the tiles as they are.
static Least fitPeak(const std::vector<Point> &points, double fastest,
                     Precision precision, Cluster &cluster) {
  Program program = programIn(precision);
  ProductRate &rate = cluster.device.products[precision];
  Least best =
      leastBetween(std::log(fastest / 8), std::log(fastest * 8), [&](double x) {
        rate.peak = std::exp(x);
        return errorOf(points, program, cluster);
      });
  rate.peak = std::exp(best.at);
  return best;
}

static Error fitProducts(const std::vector<MeasuredProgram> &programs,
                         Precision precision, double units, Cluster &cluster) {
  std::vector<Point> points =
      pointsOf(programs, [&](Precision found, CallKind kind) {
        return found == precision && kind == CallKind::Product;
      });
  double fastest = 0;
  for (const Point &point : points)
    fastest = std::max(fastest, flopsOf(point.call) / point.seconds);
  if (fastest == 0)
    return notTimed(std::string("a matrix product in ") + nameOf(precision));
  ProductRate &rate = cluster.device.products[precision], best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<Tile> &tiles : tileSets()) {
    rate = {0, 1, units, tiles};
    double cost = fitPeak(points, fastest, precision, cluster).cost;
    if (cost < least)
      least = cost, best = rate;
  }
  double fitted = best.peak;
  best.peak = rounded(std::max(fitted, fastest));
  best.efficiency = std::min(rounded(fitted / best.peak), 1.0);
  rate = best;
  return Error::success();
}

/// Returns the share of the rate of products that calls of one kind reach;
/// none: there are none. `efficiency` is the number of `cluster` that says so.
static std::optional<double>
shareOfProducts(const std::vector<MeasuredProgram> &programs,
                Precision precision, CallKind kind, double &efficiency,
                const Cluster &cluster) {
  std::vector<Point> points =
      pointsOf(programs, [&](Precision found, CallKind foundKind) {
        return found == precision && foundKind == kind;
      });
  if (points.empty())
    return std::nullopt;
  Program program = programIn(precision);
  return rounded(std::exp(leastBetween(std::log(1e-4), 0, [&](double x) {
                            efficiency = std::exp(x);
                            return errorOf(points, program, cluster);
                          }).at));
}

/// Fits attention in the lowest precision: models are trained in it.
static Error fitAttention(const std::vector<MeasuredProgram> &programs,
                          Cluster &cluster) {
  AttentionModel &model = cluster.attention;
  for (Precision precision : {Precision::BF16, Precision::F32}) {
    std::optional<double> forward = shareOfProducts(
        programs, precision, CallKind::Attention, model.efficiency, cluster);
    std::optional<double> backward =
        shareOfProducts(programs, precision, CallKind::AttentionGradient,
                        model.gradientEfficiency, cluster);
    if (!forward && !backward)
      continue;
    model.efficiency = forward ? *forward : *backward;
    model.gradientEfficiency = backward.value_or(model.efficiency);
    return Error::success();
  }
  return notTimed("attention");
}

//===----------------------------------------------------------------------===//
// The links
//===----------------------------------------------------------------------===//

/// Returns the bandwidth of messages; small ones tell little of it, as they
/// take the latency.
static double messageBandwidth(const std::vector<MeasuredProgram> &programs,
                               Cluster cluster) {
  std::vector<Point> points;
  double slowest = std::numeric_limits<double>::infinity(), fastest = 0;
  for (const MeasuredProgram &measured : programs)
    for (const MeasuredCall &sent : measured.calls) {
      if (sent.call.kind != CallKind::Send || sent.call.bytes == 0)
        continue;
      Point &point = points.emplace_back(Point{sent.call, sent.seconds});
      point.call.meshAxes = {0};
      point.call.peer = 1;
      slowest = std::min(slowest,
                         static_cast<double>(sent.call.bytes) / sent.seconds);
      fastest = std::max(fastest,
                         static_cast<double>(sent.call.bytes) / sent.seconds);
    }
  Program program = programIn(Precision::BF16, 2);
  return std::exp(
      leastBetween(std::log(slowest), std::log(fastest * 4), [&](double x) {
        cluster.node.bandwidth = std::exp(x);
        return errorOf(points, program, cluster);
      }).at);
}

static Error fitLinks(std::vector<MeasuredProgram> programs, Cluster &cluster) {
  // Shorter than a GPU's clock can tell.
  for (MeasuredProgram &program : programs)
    llvm::erase_if(program.calls, [](const MeasuredCall &measured) {
      return !(measured.seconds > 0);
    });
  auto isTimed = [&](llvm::function_ref<bool(const Call &)> isWanted) {
    return llvm::any_of(programs, [&](const MeasuredProgram &program) {
      return llvm::any_of(program.calls, [&](const MeasuredCall &measured) {
        return measured.call.bytes > 0 && isWanted(measured.call);
      });
    });
  };
  if (!isTimed([](const Call &call) {
        return call.collective == Collective::AllReduce;
      }))
    return notTimed("an all-reduce");
  if (!isTimed([](const Call &call) { return call.kind == CallKind::Send; }))
    return notTimed("a message");
  Link &link = cluster.node = fitLink(programs);
  link.bandwidth = rounded(messageBandwidth(programs, cluster));
  link.latency = rounded(link.latency);
  link.gatherEfficiency = rounded(link.gatherEfficiency);
  link.exchangeEfficiency = rounded(link.exchangeEfficiency);
  for (auto &[bytes, bandwidth] : link.collectives.points)
    bandwidth = rounded(bandwidth);
  return Error::success();
}

Expected<Cluster> tessera::fitGpu(const GpuMachine &machine,
                                  const GpuMeasurements &measurements) {
  Cluster cluster;
  cluster.name = machine.name;
  cluster.kind = DeviceKind::Cuda;
  cluster.architecture = machine.architecture;
  cluster.devicesPerNode = machine.count;
  cluster.device.memoryBytes = static_cast<double>(machine.memoryBytes);
  const std::vector<MeasuredProgram> &computing = measurements.computing;
  if (Error error = fitMemory(computing, cluster))
    return error;
  for (Precision precision : {Precision::F32, Precision::BF16})
    if (Error error =
            fitProducts(computing, precision,
                        static_cast<double>(machine.multiprocessors), cluster))
      return error;
  if (Error error = fitAttention(computing, cluster))
    return error;
  if (machine.count > 1)
    if (Error error = fitLinks(measurements.communicating, cluster))
      return error;
  return cluster;
}
