//===- LaunchEnvironmentTest.cpp - torchrun's and Slurm's variables -------===//

#include "tools/tessera/options/LaunchEnvironment.h"

#include <gtest/gtest.h>
#include <map>

using namespace tessera;

namespace {

using Variables = std::map<std::string, std::string>;

Launch launchOf(const Variables &variables) {
  Launch launch;
  std::string why = readLaunch(
      [&](const char *name) {
        auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      launch);
  EXPECT_EQ(why, "");
  return launch;
}

TEST(LaunchEnvironment, NothingIsOneProcess) {
  EXPECT_TRUE(launchOf({}).isAlone());
  EXPECT_TRUE(launchOf({{"WORLD_SIZE", "1"}}).isAlone());
  EXPECT_TRUE(launchOf({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).isAlone());
}

TEST(LaunchEnvironment, TorchrunsPortIsItsOwn) {
  Launch launch = launchOf({{"RANK", "5"},
                            {"WORLD_SIZE", "16"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node3"},
                            {"MASTER_PORT", "12345"}});
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.worldSize, 16);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 4);
  EXPECT_EQ(launch.rendezvous, "node3:12346");
}

TEST(LaunchEnvironment, ByHandTwoVariablesAreEnough) {
  Launch launch = launchOf({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(launch.rendezvous, "127.0.0.1:29501");
  EXPECT_EQ(launch.localSize, 0);
}

TEST(LaunchEnvironment, SlurmsFirstHostIsTheMaster) {
  Launch launch = launchOf({{"SLURM_PROCID", "9"},
                            {"SLURM_NTASKS", "16"},
                            {"SLURM_LOCALID", "1"},
                            {"SLURM_JOB_ID", "100123"},
                            {"SLURM_JOB_NODELIST", "node[07-10]"}});
  EXPECT_EQ(launch.rank, 9);
  EXPECT_EQ(launch.worldSize, 16);
  EXPECT_EQ(launch.rendezvous, "node07:21124");
}

TEST(LaunchEnvironment, SlurmsStepIsSmallerThanItsJob) {
  Launch launch = launchOf({{"SLURM_PROCID", "0"},
                            {"SLURM_NTASKS", "16"},
                            {"SLURM_STEP_NUM_TASKS", "2"},
                            {"SLURM_STEP_NODELIST", "b2"},
                            {"SLURM_JOB_NODELIST", "a1,b2"},
                            {"MASTER_PORT", "5000"}});
  EXPECT_EQ(launch.worldSize, 2);
  EXPECT_EQ(launch.rendezvous, "b2:5001");
}

TEST(LaunchEnvironment, FirstHost) {
  EXPECT_EQ(firstHost("login1"), "login1");
  EXPECT_EQ(firstHost("a1,b2"), "a1");
  EXPECT_EQ(firstHost("node[07-09,12],login1"), "node07");
  EXPECT_EQ(firstHost("node[3,5]"), "node3");
  EXPECT_EQ(firstHost("node[4]"), "node4");
  EXPECT_EQ(firstHost(""), "");
}

} // namespace
