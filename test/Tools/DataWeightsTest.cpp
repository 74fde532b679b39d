//===- DataWeightsTest.cpp - FILE:WEIGHT on the command line --------------===//

#include "tools/tessera/options/DataWeights.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

using Names = std::vector<std::string>;
using Weights = std::vector<double>;

struct Taken {
  Names names;
  Weights weights;
};

Taken take(Names names) {
  Taken taken{std::move(names), {7}};
  EXPECT_EQ(takeWeights(taken.names, taken.weights), "");
  return taken;
}

TEST(DataWeights, ANumberAfterTheLastColonIsAWeight) {
  Taken taken = take({"a.bin:0.7", "dir/b.bin:3e-1", "c:d:2"});
  EXPECT_EQ(taken.names, (Names{"a.bin", "dir/b.bin", "c:d"}));
  EXPECT_EQ(taken.weights, (Weights{0.7, 0.3, 2}));
}

TEST(DataWeights, WhatIsNoNumberIsOfTheName) {
  Names names = {"a.bin", "a.bin:",  "a.bin:x", "a.bin:1x",
                 ":0.5",  "a:0.5/b", "a: 1",    "a:0x10"};
  Taken taken = take(names);
  EXPECT_EQ(taken.names, names);
  EXPECT_EQ(taken.weights, Weights());
}

/// The runtime refuses them by their values.
TEST(DataWeights, NumbersThatAreNoWeightsAreTakenOff) {
  Taken taken = take({"a:-1", "b:inf", "c:1e999", "d:nan"});
  EXPECT_EQ(taken.names, (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(taken.weights[0], -1);
  EXPECT_EQ(taken.weights[1], INFINITY);
  EXPECT_EQ(taken.weights[2], INFINITY);
  EXPECT_TRUE(std::isnan(taken.weights[3]));
}

TEST(DataWeights, AFileOfTheWholeNameIsThatFile) {
  std::string name = testing::TempDir() + "tessera-data:0.5";
  std::ofstream(name) << "text";
  EXPECT_EQ(take({name}).names, Names{name});
  EXPECT_EQ(take({name + ":2"}).names, Names{name});
  EXPECT_EQ(take({name + ":2"}).weights, Weights{2});
  std::filesystem::remove(name);
}

TEST(DataWeights, AllFilesHaveOneOrNone) {
  Names names = {"a:1", "b"};
  Weights weights;
  EXPECT_EQ(takeWeights(names, weights),
            "--data: 'a' has a weight, 'b' has none; give each file one, as "
            "FILE:WEIGHT, or none");
}

} // namespace
