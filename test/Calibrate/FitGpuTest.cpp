//===- FitGpuTest.cpp - a cluster of GPUs from timed calls ----------------===//
// Times that the costs of a known cluster give: the fit finds its numbers.

#include "lib/Calibrate/FitGpu.h"
#include "test/Simulate/Machine.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace tessera;
using namespace tessera::simulate;

namespace {

const GpuMachine machine = {"H200", "sm_90", 1, int64_t(141) << 30, 132, ""};

Cluster h200() {
  llvm::Expected<Cluster> cluster =
      readCluster(std::string(CLUSTERS_FOLDER) + "/h200.toml");
  EXPECT_TRUE(!!cluster) << llvm::toString(cluster.takeError());
  ProductRate &slow = cluster->device.products[Precision::F32];
  slow = cluster->device.products.at(Precision::BF16);
  slow.peak = 60e12;
  cluster->attention.efficiency = 0.6;
  cluster->attention.gradientEfficiency = 0.4;
  slow.tiles = {{128, 256}, {256, 128}};
  return *cluster;
}

Call product(int64_t m, int64_t n, int64_t k) {
  Call call;
  call.kind = CallKind::Product;
  call.shape = {m, n, k};
  return call;
}

Call attention(CallKind kind, double flops) {
  Call call;
  call.kind = kind;
  call.flops = flops;
  call.shape = {4096, 1024, 128};
  return call;
}

/// Returns the calls of a program, without times.
std::vector<Call> computingCalls() {
  std::vector<Call> calls = {kernel(0), attention(CallKind::Attention, 3e11),
                             attention(CallKind::AttentionGradient, 7.5e11)};
  for (double bytes = 4096; bytes < 3e9; bytes *= 4)
    calls.push_back(kernel(bytes));
  for (int64_t m : {256, 1024, 8192})
    for (int64_t n : {512, 2048, 11008})
      for (int64_t k : {256, 1024, 4096})
        calls.push_back(product(m, n, k));
  return calls;
}

using Change = std::function<double(double)>;

/// Measures calls as the cluster runs them, each time changed. Between calls a
/// device waits for a microsecond, which is a part of what a call costs.
MeasuredProgram measuredOn(const Cluster &cluster, Precision precision,
                           const std::vector<Call> &calls,
                           const Change &change) {
  Program program;
  program.mesh = {{"dp", 1}};
  program.stages.resize(1);
  program.precision = precision;
  MeasuredProgram measured;
  measured.precision = precision;
  measured.betweenCalls = 1e-6;
  for (const Call &call : calls)
    measured.calls.push_back(
        {call, 1,
         change(secondsOf(call, program, 0, cluster)) - measured.betweenCalls});
  return measured;
}

GpuMeasurements measurementsOf(const std::vector<Call> &calls,
                               const Change &change) {
  Cluster cluster = h200();
  return {{measuredOn(cluster, Precision::F32, calls, change),
           measuredOn(cluster, Precision::BF16, calls, change)},
          {}};
}

double same(double seconds) { return seconds; }

Cluster fitted(const GpuMeasurements &measurements,
               const GpuMachine &of = machine) {
  llvm::Expected<Cluster> cluster = fitGpu(of, measurements);
  if (!cluster) {
    ADD_FAILURE() << llvm::toString(cluster.takeError());
    return {};
  }
  return *cluster;
}

std::string errorOf(const GpuMeasurements &measurements,
                    const GpuMachine &of = machine) {
  llvm::Expected<Cluster> cluster = fitGpu(of, measurements);
  return cluster ? "" : llvm::toString(cluster.takeError());
}

/// Numbers are written with four digits.
void expectNear(double found, double wanted, double tolerance) {
  EXPECT_NEAR(found / wanted, 1, tolerance) << found << " and " << wanted;
}

double memoryRate(const Cluster &cluster) {
  return cluster.device.memoryBandwidth * cluster.device.memoryEfficiency;
}

double productRate(const Cluster &cluster, Precision precision) {
  const ProductRate &rate = cluster.device.products.at(precision);
  EXPECT_LE(rate.efficiency, 1);
  return rate.peak * rate.efficiency;
}

TEST(FitGpuTest, FindsTheNumbersOfAKnownCluster) {
  Cluster wanted = h200();
  Cluster found = fitted(measurementsOf(computingCalls(), same));
  EXPECT_EQ(found.kind, DeviceKind::Cuda);
  EXPECT_EQ(found.architecture, "sm_90");
  EXPECT_EQ(found.devices(), 1);
  EXPECT_EQ(found.device.memoryBytes, static_cast<double>(int64_t(141) << 30));
  expectNear(found.device.launch, 3e-6, 0.002);
  expectNear(memoryRate(found), memoryRate(wanted), 0.002);
  for (Precision precision : {Precision::F32, Precision::BF16}) {
    const ProductRate &rate = found.device.products.at(precision);
    const ProductRate &known = wanted.device.products.at(precision);
    expectNear(productRate(found, precision), productRate(wanted, precision),
               0.004);
    EXPECT_EQ(rate.units, 132);
    EXPECT_EQ(rate.tiles.size(), known.tiles.size());
  }
  EXPECT_TRUE(found.attention.isFused);
  expectNear(found.attention.efficiency, 0.6, 0.005);
  expectNear(found.attention.gradientEfficiency, 0.4, 0.005);
}

TEST(FitGpuTest, ThePeakIsAtLeastTheFastestProduct) {
  Cluster found = fitted(measurementsOf(computingCalls(), same));
  double fastest = 0;
  for (const MeasuredCall &measured :
       measurementsOf(computingCalls(), same).computing[1].calls)
    if (measured.call.kind == CallKind::Product)
      fastest =
          std::max(fastest, 2. * static_cast<double>(measured.call.shape[0]) *
                                static_cast<double>(measured.call.shape[1]) *
                                static_cast<double>(measured.call.shape[2]) /
                                (measured.seconds + 1e-6));
  EXPECT_GT(fastest, 5e14);
  EXPECT_GE(found.device.products.at(Precision::BF16).peak, fastest * 0.999);
}

TEST(FitGpuTest, NoiseMovesThemLittle) {
  std::mt19937_64 random(3);
  auto noisy = [&](double seconds) {
    double share = static_cast<double>(random() >> 11) / (1ull << 53);
    return seconds * (0.9 + 0.2 * share);
  };
  Cluster wanted = h200();
  Cluster found = fitted(measurementsOf(computingCalls(), noisy));
  expectNear(found.device.launch, 3e-6, 0.1);
  expectNear(memoryRate(found), memoryRate(wanted), 0.06);
  for (Precision precision : {Precision::F32, Precision::BF16})
    expectNear(productRate(found, precision), productRate(wanted, precision),
               0.06);
  expectNear(found.attention.efficiency, 0.6, 0.12);
}

TEST(FitGpuTest, OneShapeGivesItsRate) {
  std::vector<Call> calls = {kernel(1e6), kernel(1e9),
                             product(8192, 8192, 4096),
                             attention(CallKind::Attention, 3e11)};
  Cluster found = fitted(measurementsOf(calls, same));
  Program program;
  program.mesh = {{"dp", 1}};
  program.stages.resize(1);
  program.precision = Precision::BF16;
  expectNear(secondsOf(calls[2], program, 0, found),
             secondsOf(calls[2], program, 0, h200()), 0.002);
}

TEST(FitGpuTest, TheSlowCallThatIsRareDoesNotCount) {
  GpuMeasurements measurements = measurementsOf(computingCalls(), same);
  GpuMeasurements again = measurements;
  for (const MeasuredProgram &program : again.computing)
    measurements.computing.push_back(program);
  for (MeasuredProgram &program : again.computing) {
    for (MeasuredCall &measured : program.calls)
      measured.seconds *= 100;
    measurements.computing.push_back(std::move(program));
  }
  expectNear(memoryRate(fitted(measurements)), memoryRate(h200()), 0.002);
}

TEST(FitGpuTest, WhatWasNotTimedIsAnError) {
  const std::string remedy =
      "; run tessera calibrate again without --quick, on a GPU that nothing "
      "else uses";
  EXPECT_EQ(errorOf({}),
            "the traces hold no time of a kernel that moves bytes" + remedy);
  EXPECT_EQ(errorOf(measurementsOf({kernel(0)}, same)), errorOf({}));
  std::vector<Call> calls = {kernel(1e6)};
  EXPECT_EQ(errorOf(measurementsOf(calls, same)),
            "the traces hold no time of a matrix product in f32" + remedy);
  calls.push_back(product(256, 256, 256));
  GpuMeasurements half = measurementsOf(calls, same);
  half.computing.pop_back();
  EXPECT_EQ(errorOf(half),
            "the traces hold no time of a matrix product in bf16" + remedy);
  EXPECT_EQ(errorOf(measurementsOf(calls, same)),
            "the traces hold no time of attention" + remedy);
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

MeasuredProgram linkProgram(const std::vector<std::pair<Call, double>> &calls) {
  MeasuredProgram program;
  program.precision = Precision::BF16;
  for (const auto &[call, seconds] : calls)
    program.calls.push_back({call, 2, seconds});
  return program;
}

TEST(FitGpuTest, SeveralGpusHaveALink) {
  GpuMachine two = machine;
  two.count = 2;
  GpuMeasurements measurements = measurementsOf(computingCalls(), same);
  EXPECT_EQ(errorOf(measurements, two).substr(0, 42),
            "the traces hold no time of an all-reduce; ");
  // A ring of two sends all bytes of a sum once, at 100 GB/s.
  Call small = allReduce(8, {0}), large = allReduce(1e9, {0});
  measurements.communicating = {
      linkProgram({{small, 1e-5}, {large, 1e-2 + 1e-5}, {large, 0}})};
  EXPECT_EQ(errorOf(measurements, two).substr(0, 39),
            "the traces hold no time of a message; r");
  Call gather = large;
  gather.collective = Collective::AllGather;
  measurements.communicating.push_back(
      linkProgram({{message(CallKind::Send, 1e9, 1), 2e-2 + 1e-5},
                   {message(CallKind::Send, 1e4, 1), 1.04e-5}, // mostly latency
                   {message(CallKind::Send, 2e4, 1), 1.03e-5},
                   {message(CallKind::Send, 3e4, 1), 1.1e-5},
                   {gather, 1e-2 + 1e-5}}));
  Cluster found = fitted(measurements, two);
  EXPECT_EQ(found.devices(), 2);
  expectNear(found.node.bandwidth, 5e10, 0.003);
  expectNear(found.node.latency, 1e-5, 0.001);
  expectNear(found.node.collectives.at(1e9), 1e11, 0.001);
  expectNear(found.node.gatherEfficiency, 0.5, 0.001);
}

} // namespace
