//===- LossSpikesTest.cpp - losses far above those before -----------------===//

#include "tools/tessera/train/LossSpikes.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

/// Returns the state after `count` losses around 2, alternately 0.1 below and
/// above.
LossSpikes after(int count) {
  LossSpikes spikes;
  for (int i = 0; i < count; ++i)
    EXPECT_FALSE(spikes.add(i % 2 ? 2.1 : 1.9)) << i;
  return spikes;
}

TEST(LossSpikes, AreFiveDeviationsAboveTheMean) {
  EXPECT_FALSE(after(40).add(2.49));
  std::optional<LossSpikes::Spike> spike = after(40).add(2.51);
  ASSERT_TRUE(spike);
  EXPECT_NEAR(spike->mean, 2, 1e-12);
  EXPECT_NEAR(spike->deviation, 0.1, 1e-12);
  EXPECT_FALSE(after(40).add(1e-3)) << "a fall is none";
}

TEST(LossSpikes, NeedTwentyLosses) {
  EXPECT_FALSE(after(19).add(100));
  EXPECT_TRUE(after(20).add(100));
}

TEST(LossSpikes, OfLossesThatHardlyDifferAreNone) {
  LossSpikes spikes;
  for (int i = 0; i < 30; ++i)
    spikes.add(2);
  EXPECT_FALSE(spikes.add(2.09));
  EXPECT_TRUE(spikes.add(2.2));
}

TEST(LossSpikes, ForgetWhatIsLongAgo) {
  LossSpikes spikes;
  for (int i = 0; i < 30; ++i)
    spikes.add(i % 2 ? 100 : 0); // mean 50, deviation 50
  EXPECT_FALSE(LossSpikes(spikes).add(10));
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(spikes.add(2));
  EXPECT_TRUE(spikes.add(10));
}

TEST(LossSpikes, CountNoNumbersThatAreNone) {
  LossSpikes spikes = after(40);
  EXPECT_FALSE(spikes.add(NAN));
  EXPECT_FALSE(spikes.add(INFINITY));
  EXPECT_FALSE(spikes.add(2.49));
  EXPECT_TRUE(spikes.add(2.8));
}

} // namespace
