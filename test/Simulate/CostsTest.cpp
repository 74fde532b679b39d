//===- CostsTest.cpp - seconds of single calls, by hand -------------------===//

#include "test/Simulate/Machine.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::simulate;

namespace {

Program programOn(program::Mesh mesh) {
  Program program;
  program.mesh = std::move(mesh);
  program.stages.resize(1);
  return program;
}

Call product(int64_t m, int64_t n, int64_t k) {
  Call call;
  call.kind = CallKind::Product;
  call.shape = {m, n, k};
  return call;
}

double secondsOn(const Cluster &cluster, const Call &call,
                 const Program &program = programOn({{"dp", 1}})) {
  return secondsOf(call, program, 0, cluster);
}

TEST(CostsTest, KernelsMoveBytes) {
  Cluster cluster = smallCluster();
  EXPECT_DOUBLE_EQ(secondsOn(cluster, kernel(200)), 2);
  cluster.device.memoryEfficiency = 0.5;
  cluster.device.launch = 0.25;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, kernel(200)), 4.25);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, kernel(0)), 0.25);
}

TEST(CostsTest, ProductsTakeTheirFlopsOrTheirBytes) {
  Cluster cluster = smallCluster();
  // 2 * 5 * 6 * 7 flops at 10 per second, and 30 elements of 4 bytes at 100
  // bytes per second.
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(5, 6, 7)), 42 + 1.2);
  cluster.device.products[Precision::F32].peak = 1e9;
  // 35 + 42 elements are read.
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(5, 6, 7)), 3.08 + 1.2);
}

TEST(CostsTest, ProductsTakeWhatTheirResultsMove) {
  Cluster cluster = smallCluster();
  Call call = product(5, 6, 7);
  call.resultBytes = 300; // added to what is there
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 42 + 3);
  // Bytes for gradients of weights alone.
  cluster.software.gradientSumBytes = 50;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 42 + 3);
  call.form = ProductForm::TransposedA;
  call.phase = Phase::Backward;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 42 + 30 * 50 / 100.);
  call.phase = Phase::Forward;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 42 + 3);
  cluster.software.resultBytes = 2;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 42 + 30 * 2 / 100.);
  call.experts = 3;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 3 * (42 + 30 * 2 / 100.));
}

TEST(CostsTest, FewTilesAreCutAlongK) {
  Cluster cluster = smallCluster();
  ProductRate &rate = cluster.device.products[Precision::F32];
  rate.units = 4;
  rate.tiles = {{2, 3}};
  cluster.device.memoryBandwidth = 1e12;
  auto near = [&](const Call &call, double seconds) {
    EXPECT_NEAR(secondsOn(cluster, call), seconds, 1e-6);
  };
  near(product(2, 3, 8), 2 * 2 * 3 * 8 / 10.); // 4 cuts, 1 tile
  near(product(6, 3, 8), 2 * 6 * 3 * 8 / 10.); // 4 cuts, 3 tiles, 3 waves
  near(product(2, 3, 2), 4 * 2 * 3 * 2 / 10.); // no more cuts than k
  near(product(2, 3, 1), 4 * 2 * 2 * 3 / 10.);
  // 4 parts of 6 elements are written and read.
  cluster.device.memoryBandwidth = 100;
  near(product(2, 3, 800), 960 + 4 * 6 * 8 / 100. + 6 * 4 / 100.);
}

TEST(CostsTest, TheLastWaveOfTilesMayBeEmpty) {
  Cluster cluster = smallCluster();
  ProductRate &rate = cluster.device.products[Precision::F32];
  rate.units = 4;
  rate.tiles = {{2, 3}};
  cluster.device.memoryBandwidth = 1e30; // the multiplications alone
  // With k of 1, which cannot be cut.
  double full = secondsOn(cluster, product(4, 6, 1)); // 4 tiles
  EXPECT_DOUBLE_EQ(full, 2 * 4 * 6 / 10.);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(3, 5, 1)), full);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(5, 6, 1)), 2 * full);
  rate.tiles.push_back({5, 1}); // 6 tiles in 2 waves of 4 * 5 elements
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(5, 6, 1)), 2 * 2 * 4 * 5 / 10.);
  rate.tiles = {{2, 3}};
  Call experts = product(2, 6, 1); // 3 times 2 tiles in 2 waves of 4
  experts.experts = 3;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, experts), 2 * full);
  EXPECT_NEAR(secondsOn(cluster, product(4, 6, 0)), 0, 1e-20);
}

TEST(CostsTest, AttentionKeepsScoresOrNot) {
  Cluster cluster = smallCluster();
  Program program = programOn({{"dp", 1}});
  Call call;
  call.kind = CallKind::Attention;
  call.flops = 100; // causal: half of the scores
  call.shape = {8, 4, 2};
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 10);
  program.causalImbalance = 1.5;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 15);

  cluster.attention.isFused = false;
  cluster.attention.forwardBytes = 50;
  cluster.attention.backwardBytes = 75;
  cluster.device.memoryBandwidth = 1000;
  // Two products of 8 * 4 scores over 2, of which one makes scores and the
  // other 8 * 2 elements of 4 bytes, and 50 bytes for each score.
  double made = 8 * 4 * 4 / 1000., read = 8 * 2 * 4 / 1000.;
  double forward = 2 * 2 * 8 * 4 * 2 / 10. + made + read + 50 * 32 / 1000.;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), forward);
  call.kind = CallKind::AttentionGradient;
  double backward = 4 * 2 * 8 * 4 * 2 / 10. + made + 3 * read + 75 * 32 / 1000.;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), backward);
  call.layerMode = Recompute::Selective; // its layer recomputes selectively
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program),
                   backward + 2 * 8 * 4 * 2 / 10. + made + 50 * 32 / 1000.);
  cluster.software.recomputesWhole = true; // the product of values as well
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), backward + forward);
}

TEST(CostsTest, CollectivesAreAsFastAsTheSlowestLink) {
  Cluster cluster = smallCluster();
  // Ranks 2k and 2k + 1 share a node; the last axis varies fastest.
  Program program = programOn({{"dp", 4}, {"tp", 2}});
  double ring = 2 * (2 - 1) / 2. * 100;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {1}), program), ring / 50);
  // One of each node: a share of 10 bytes per second.
  double across = 2 * (4 - 1) / 4. * 100;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {0}), program),
                   across / 10);
  // Both of each node: two shares.
  double all = 2 * (8 - 1) / 8. * 100;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {0, 1}), program),
                   all / 20);
  cluster.network.latency = 3; // a tree over 4 nodes, there and back
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {0}), program),
                   across / 10 + 2 * 3 * 2);
  EXPECT_DOUBLE_EQ(
      secondsOn(cluster, allReduce(100, {0}), programOn({{"dp", 1}})), 0);
}

TEST(CostsTest, GathersAndExchangesReachTheirShares) {
  Cluster cluster = smallCluster();
  cluster.node.gatherEfficiency = 0.5;
  cluster.node.exchangeEfficiency = 4;
  Program program = programOn({{"ep", 2}});
  Call call = allReduce(100, {0});
  call.collective = Collective::AllToAll;
  // Half of the half that a rank has.
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 25 / 200.);
  call.collective = Collective::AllGather;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 50 / 25.);
}

TEST(CostsTest, AShiftIsAMessage) {
  Cluster cluster = smallCluster();
  Program program = programOn({{"cp", 4}, {"tp", 2}});
  Call shift = allReduce(100, {0});
  shift.op = "shift";
  shift.collective = Collective::Shift;
  double before = secondsOn(cluster, shift, program);
  cluster.network.latency = 3;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, shift, program), before + 3);
}

TEST(CostsTest, OtherSoftwareMovesOtherBytes) {
  Cluster cluster = smallCluster();
  cluster.software.logitBytes = 50;
  cluster.software.updateScale = 2;
  Program program = programOn({{"tp", 2}});
  Call call = kernel(200);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 2);
  // Half of the bytes of the loss, which has 40 logits, of 2000.
  call.role = CallRole::Loss;
  program.stages[0].logits = 40;
  program.stages[0].lossBytes = 400;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 10);
  program.stages[0].logits = 0; // a model without logits
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 2);
  call.role = CallRole::None;
  call.phase = Phase::Optimizer;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 4);
}

TEST(CostsTest, SequencesMayComeInZigzagOrder) {
  Cluster cluster = smallCluster();
  Program program = programOn({{"cp", 2}});
  Call call = allReduce(100, {0});
  call.op = "zigzag";
  call.collective = Collective::Zigzag;
  EXPECT_GT(secondsOn(cluster, call, program), 0);
  cluster.software.hasZigzagData = true;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call, program), 0);
}

TEST(CostsTest, BandwidthFollowsTheSize) {
  SizeCurve curve{{{10, 1}, {1000, 3}}};
  EXPECT_DOUBLE_EQ(curve.at(1), 1);
  EXPECT_DOUBLE_EQ(curve.at(100), 2);
  EXPECT_DOUBLE_EQ(curve.at(1e9), 3);
  Cluster cluster = smallCluster();
  cluster.node.collectives = curve;
  Program program = programOn({{"tp", 2}});
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {0}), program), 100 / 2.);
  // The software moves 0.4 bytes for each of 25 elements.
  cluster.software.elementBytes["tp"] = 0.4;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, allReduce(100, {0}), program), 10 / 1.);
  Call half = allReduce(50, {0});
  half.elements = 25; // in half of the bytes: it moves as many
  EXPECT_DOUBLE_EQ(secondsOn(cluster, half, program), 10 / 1.);
}

TEST(CostsTest, MessagesGoToTheirPeer) {
  Cluster cluster = smallCluster();
  Program near = programOn({{"pp", 2}});
  Call send = message(CallKind::Send, 100, 1);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, send, near), 2);
  Program far = programOn({{"pp", 2}, {"tp", 2}});
  EXPECT_DOUBLE_EQ(secondsOn(cluster, send, far), 10);
  // Half of it each, and then a gather: half of it over the link of the node.
  cluster.software.scattersMessagesOver = "tp";
  EXPECT_DOUBLE_EQ(secondsOn(cluster, send, far), 5 + 1);
  far.streamAxes = {"tp"}; // the ranks have parts of it, and send these
  EXPECT_DOUBLE_EQ(secondsOn(cluster, send, far), 10);
}

TEST(CostsTest, RatesOfShapesAreMeansOfTheirNeighbours) {
  ShapeRates rates{{{{10, 10, 10}, 100}, {{1000, 10, 10}, 400}}};
  EXPECT_DOUBLE_EQ(rates.at({10, 10, 10}), 100);
  EXPECT_DOUBLE_EQ(rates.at({1000, 10, 10}), 400);
  EXPECT_NEAR(rates.at({100, 10, 10}), 200, 1e-9); // both are as far away
  EXPECT_LT(rates.at({50, 10, 10}), 150);
  EXPECT_NEAR(rates.at({100, 10, 500}), 200, 1e-9);
  EXPECT_EQ(ShapeRates().at({1, 1, 1}), 0);
}

/// Seconds of a flop as three parts, each of which grows as one size shrinks.
double rateWithTrend(double m, double n, double k) {
  return 1 / (2 + 3 / m + 5 / n + 7 / k);
}

TEST(CostsTest, TrendOfRatesReachesBeyondWhatWasMeasured) {
  ShapeRates rates;
  for (double m : {2, 8, 32})
    for (double n : {4, 16})
      for (double k : {2, 64})
        rates.points.push_back({{m, n, k}, rateWithTrend(m, n, k)});
  EXPECT_GT(rates.at({1, 1, 1}), 1.5 * rateWithTrend(1, 1, 1));
  rates.fitTrend();
  ASSERT_TRUE(rates.trend);
  EXPECT_NEAR(rates.at({1, 1, 1}), rateWithTrend(1, 1, 1), 1e-6);
  EXPECT_NEAR(rates.at({500, 600, 700}), rateWithTrend(500, 600, 700), 1e-6);
  EXPECT_NEAR(rates.at({2, 4, 2}), rateWithTrend(2, 4, 2), 1e-6);
  // The share of it that points reach counts where they are.
  rates.points.push_back({{1000, 1000, 1000}, rateWithTrend(1000, 1000, 1000)});
  for (ShapeRates::Point &point : rates.points)
    if (point.shape[0] > 8)
      point.rate *= 0.5;
  EXPECT_LT(rates.at({1000, 1000, 1000}), 0.6 * rateWithTrend(1e3, 1e3, 1e3));
  EXPECT_GT(rates.at({2, 4, 2}), 0.9 * rateWithTrend(2, 4, 2));
}

TEST(CostsTest, TrendHasNoTermBelowZero) {
  ShapeRates one{{{{8, 16, 32}, 5e10}}};
  one.fitTrend();
  EXPECT_NEAR(one.at({8, 16, 32}), 5e10, 1);
  EXPECT_NEAR(one.at({1, 1, 1}), 5e10, 1); // nothing says that it is less
  ShapeRates falling{{{{8, 8, 8}, 2}, {{64, 64, 64}, 1}}};
  falling.fitTrend();
  ASSERT_TRUE(falling.trend);
  for (double term : *falling.trend)
    EXPECT_GE(term, 0);
  EXPECT_GT(falling.at({100000, 100000, 100000}), 0.5);
  ShapeRates absurd{{{{1e300, 8, 8}, 1e300}, {{8, 8, 8}, 1e-300}}};
  absurd.fitTrend();
  EXPECT_FALSE(std::isnan(absurd.at({8, 8, 8})));
}

TEST(CostsTest, ProductsOfTransposedOperandsHaveTheirOwnRates) {
  Cluster cluster = smallCluster();
  ProductRates &rates = cluster.device.measured[Precision::F32].products;
  rates[ProductForm::Plain].points = {{{5, 6, 7}, 210}};
  rates[ProductForm::TransposedA].points = {{{5, 6, 7}, 105}};
  Call call = product(5, 6, 7);
  EXPECT_NEAR(secondsOn(cluster, call), 2, 1e-9);
  call.form = ProductForm::TransposedA;
  EXPECT_NEAR(secondsOn(cluster, call), 4, 1e-9);
  call.form = ProductForm::TransposedB; // nothing is known of this form
  EXPECT_NEAR(secondsOn(cluster, call), 2, 1e-9);
  rates[ProductForm::TransposedB].points = {{{5, 6, 7}, 420}};
  EXPECT_NEAR(secondsOn(cluster, call), 1, 1e-9);
}

TEST(CostsTest, MeasuredCallsTakeWhatWasMeasured) {
  Cluster cluster = smallCluster();
  cluster.device.launch = 0.5;
  MeasuredRates &rates = cluster.device.measured[Precision::F32];
  rates.products[ProductForm::Plain].points = {{{5, 6, 7}, 210}};
  rates.attention.points = {{{8, 4, 2}, 10}};
  rates.attentionGradient.points = {{{8, 4, 2}, 5}};
  rates.expertProducts.points = {{{5, 6, 7}, 84}};
  rates.kernels.points = {{10, 50}, {1000, 100}};
  rates.updates.points = {{10, 25}};
  rates.routing.points = {{10, 5}};
  rates.function = 0.125;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, product(5, 6, 7)), 0.5 + 2);
  Call experts = product(5, 6, 7);
  experts.experts = 3;
  experts.flops = 3 * 420;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, experts), 0.5 + 15);
  Call attention = product(8, 4, 2);
  attention.kind = CallKind::Attention;
  attention.flops = 30;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, attention), 0.5 + 3);
  attention.kind = CallKind::AttentionGradient;
  Program halves = programOn({{"cp", 2}});
  halves.causalImbalance = 1.5;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, attention, halves), 0.5 + 9);
  rates.hiddenKeys = 1; // 2 * 5 * 8 * 2 flops more
  EXPECT_DOUBLE_EQ(secondsOn(cluster, attention), 0.5 + 38);
  Call call = kernel(100);
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 0.5 + 100 / 75.);
  call.role = CallRole::Routing;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 0.5 + 20);
  call.role = CallRole::None;
  call.functions = 8;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 0.5 + 100 / 75. + 1);
  call.phase = Phase::Optimizer;
  EXPECT_DOUBLE_EQ(secondsOn(cluster, call), 0.5 + 4 + 1);
}

/// A mask cuts blocks that are computed whole, but never more than all scores.
TEST(CostsTest, HiddenKeysAddToWhatAMaskLeaves) {
  Call call = product(100, 10, 3);
  call.kind = CallKind::Attention;
  call.flops = 2 * 2 * 100 * 5 * 3; // causal
  EXPECT_DOUBLE_EQ(flopsWithHidden(call, 0), call.flops);
  EXPECT_DOUBLE_EQ(flopsWithHidden(call, 2), 2 * 2 * 100 * 7 * 3);
  EXPECT_DOUBLE_EQ(flopsWithHidden(call, 64), 2 * 2 * 100 * 10 * 3);
  call.flops = 2 * 2 * 100 * 10 * 3; // without a mask
  EXPECT_DOUBLE_EQ(flopsWithHidden(call, 2), call.flops);
  call.kind = CallKind::AttentionGradient;
  call.flops = 2 * 5 * 100 * 5 * 3;
  EXPECT_DOUBLE_EQ(flopsWithHidden(call, 2), 2 * 5 * 100 * 7 * 3);
}

} // namespace
