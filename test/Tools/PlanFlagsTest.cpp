//===- PlanFlagsTest.cpp - the table of flags -----------------------------===//

#include "tessera/Options/PlanFlags.h"
#include <gtest/gtest.h>
#include <set>

using namespace tessera;

namespace {

TEST(PlanFlags, EachNameIsDeclaredOnce) {
  std::set<std::string> names;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  EXPECT_TRUE(names.insert(flagName(#NAME)).second) << flagName(#NAME);
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#define MESH_ALIAS(AXIS, NAME)                                                 \
  EXPECT_TRUE(names.insert(flagName(#NAME)).second) << flagName(#NAME);
#include "tessera/Options/PlanFlags.def"
}

/// Nobody can ask for what stands for a flag that is not given.
bool isRealChoice(FlagCheck check, const std::string &text) {
  bool needsMore = check == FlagCheck::Positive || check == FlagCheck::Size;
  return !text.empty() && text != "-1" && !(text == "0" && needsMore);
}

template <typename Field>
void expectReadBack(const char *name, FlagCheck check, const Field &value) {
  std::string text = flagText(check, value);
  if (!isRealChoice(check, text))
    return;
  Field read = value;
  EXPECT_EQ(readFlag(name, check, text, read), "");
  EXPECT_EQ(flagText(check, read), text);
}

TEST(PlanFlags, WhatIsPrintedIsRead) {
  PlanOptions plan;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  expectReadBack(#NAME, FlagCheck::CHECK, plan.FIELD);
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
}

TEST(PlanFlags, SetsWhatIsNamed) {
  PlanOptions plan;
  EXPECT_EQ(setFlag(plan, "mesh", "pp=2, tp=4"), "");
  EXPECT_EQ(plan.mesh.str(), "pp=2,tp=4");
  EXPECT_EQ(plan.mesh.ranks(), 8);
  EXPECT_EQ(plan.mesh.sizeOf(MeshAxis::Data), 1);
  EXPECT_EQ(setFlag(plan, "zero", "3"), "");
  EXPECT_EQ(plan.strategies.zero, ZeroStage::Parameters);
  EXPECT_EQ(setFlag(plan, "device", "cuda:sm_80"), "");
  EXPECT_TRUE(plan.device.target.isCuda());
  EXPECT_EQ(plan.device.target.arch, "sm_80");
  EXPECT_EQ(setFlag(plan, "bucket-size", "1.5KiB"), "");
  EXPECT_EQ(plan.communication.bucketBytes, 1536);
  for (auto [size, bytes] : {std::pair("2KB", 2e3),
                             {"2MB", 2e6},
                             {"2GB", 2e9},
                             {"2.5 TB", 2.5e12}}) {
    EXPECT_EQ(setFlag(plan, "bucket-size", size), "");
    EXPECT_EQ(plan.communication.bucketBytes, bytes) << size;
  }
  EXPECT_EQ(setFlag(plan, "lora", "r=16,targets=q_proj,v_proj,alpha=32"), "");
  EXPECT_EQ(plan.training.lora.rank, 16);
  EXPECT_EQ(plan.training.lora.targets,
            (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_EQ(plan.training.lora.str(), "r=16,alpha=32,targets=q_proj,v_proj");
  EXPECT_EQ(setFlag(plan, "lora", "targets=all-linear,dropout=0.1"), "");
  EXPECT_EQ(plan.training.lora.str(),
            "r=8,alpha=8,dropout=0.1,targets=all-linear"); // peft's form
  EXPECT_EQ(setFlag(plan, "layer-recompute", "7=none,0-3=full"), "");
  EXPECT_EQ(plan.memory.layerRecompute.str(), "0-3=full,7=none");
  EXPECT_EQ(plan.memory.layerRecompute.ranges[0].last, 3);
  EXPECT_EQ(setFlag(plan, "layer-recompute", ""), "");
  EXPECT_TRUE(plan.memory.layerRecompute.ranges.empty());
  EXPECT_EQ(setFlag(plan, "stages", "3,1"), "");
  EXPECT_EQ(plan.stages.layers, (std::vector<int64_t>{3, 1}));
}

TEST(PlanFlags, RefusesWithARemedy) {
  PlanOptions plan;
  EXPECT_EQ(setFlag(plan, "schedule", "2f2b"),
            "--schedule 2f2b is not supported; use gpipe, 1f1b, interleaved or "
            "zero-bubble");
  EXPECT_EQ(setFlag(plan, "mesh", "xp=2"),
            "unknown mesh axis 'xp'; use 'pp', 'dp_replicate', 'dp', 'cp', "
            "'ep' or 'tp'");
  EXPECT_EQ(setFlag(plan, "beta1", "1"),
            "--beta1: must be a number from 0 to 0.999999, but is 1");
  EXPECT_EQ(setFlag(plan, "virtual-stages", "2x"),
            "--virtual-stages: must be a number above 0, but is 2x");
  EXPECT_EQ(setFlag(plan, "virtual-stages", "1e3"),
            "--virtual-stages: must be a whole number above 0 and at most "
            "281474976710656, but is 1e3");
  EXPECT_EQ(setFlag(plan, "micro-batches", "281474976710657"),
            "--micro-batches: must be a whole number above 0 and at most "
            "281474976710656, but is 281474976710657");
  EXPECT_EQ(setFlag(plan, "micro-batches", "281474976710656"), "");
  EXPECT_EQ(setFlag(plan, "weight-decay", "inf"),
            "--weight-decay: must be a finite number, but is inf");
  EXPECT_EQ(setFlag(plan, "clip", "1e309"),
            "--clip: must be a finite number, but is 1e309");
  EXPECT_EQ(setFlag(plan, "lora", "r=4,r=5,targets=q"),
            "--lora gives r twice; leave out one of the two");
  EXPECT_EQ(setFlag(plan, "device", "cpu:sm_80"),
            "unknown device 'cpu:sm_80'; use cpu, cuda or cuda:sm_90");
  EXPECT_EQ(setFlag(plan, "lora", "r=0,targets=q"),
            "--lora: r must be a whole number from 1 to 1048576, but is '0'");
  EXPECT_EQ(setFlag(plan, "lora", "alpha=nan,targets=q"),
            "--lora: alpha must be a number above 0, but is 'nan'");
  EXPECT_EQ(setFlag(plan, "lora", "dropout=1,targets=q"),
            "--lora: dropout must be a number from 0 to below 1, but is '1'");
  EXPECT_EQ(setFlag(plan, "lora", "16,targets=q"),
            "--lora: '16' is no KEY=VALUE; write "
            "r=16,alpha=32,targets=q_proj,v_proj");
  EXPECT_EQ(setFlag(plan, "lora", "targets=q,,v"),
            "--lora: a name of targets is empty; write "
            "r=16,alpha=32,targets=q_proj,v_proj");
  for (std::string text : {"3", "full", "-1=full", "1-=full", "1-2-3=full",
                           "99999999999999999999=full", "0=full,"})
    EXPECT_NE(setFlag(plan, "layer-recompute", text).find("names no layers"),
              std::string::npos)
        << text;
  EXPECT_EQ(setFlag(plan, "layer-recompute", "3-1=full"),
            "--layer-recompute: layers 3-1 end with 1, before they begin with "
            "3; write the smaller number first");
  EXPECT_EQ(setFlag(plan, "layer-recompute", "0=auto"),
            "--layer-recompute: layers 0 cannot recompute 'auto'; use none, "
            "selective or full");
  EXPECT_EQ(setFlag(plan, "layer-recompute", "4-6=full,0-4=none"),
            "--layer-recompute: layers 0-4 and 4-6 both have layer 4; give "
            "each layer once");
  EXPECT_EQ(setFlag(plan, "no-such", "1"), "unknown flag 'no-such'");
}

/// The table alone says which options a plan in a file may not have.
TEST(PlanFlags, PathsAreNotPlanned) {
  size_t paths = 0;
  auto expectPlanned = [&](FlagCheck check, const std::string &flag) {
    const std::string name = flag.substr(2);
    const bool isPath =
        check == FlagCheck::File || check == FlagCheck::Directory;
    paths += isPath ? 1 : 0;
    EXPECT_EQ(checkOfFlag(name), check) << name;
    EXPECT_EQ(refusePlanned(name).empty(), !isPath) << name;
    PlanOptions plan;
    const std::string why = setPlannedFlag(plan, name, "/etc/victim");
    EXPECT_EQ(why.find("a plan may not") != std::string::npos, isPath) << why;
    EXPECT_EQ(plan.debugging.reproducer + plan.debugging.dumpDirectory, "");
  };
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  expectPlanned(FlagCheck::CHECK, flagName(#NAME));
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  EXPECT_EQ(paths, 2u);
  EXPECT_EQ(refusePlanned("reproducer"),
            "option 'reproducer' names a file; a plan may not, give it on the "
            "command line");
  EXPECT_EQ(refusePlanned("dump-ir"),
            "option 'dump-ir' names a directory; a plan may not, give it on "
            "the command line");
}

TEST(PlanFlags, SetsWhatAPlanMaySay) {
  PlanOptions plan;
  // An option of the driver alone.
  EXPECT_EQ(setPlannedFlag(plan, "batch", "16"), "");
  EXPECT_EQ(plan.sizes.batch, 16);
  EXPECT_EQ(setPlannedFlag(plan, "vector-bits", "256"),
            "unknown option 'vector-bits'"); // an option of pipelines alone
  EXPECT_EQ(checkOfFlag("tensor-model-parallel-size"), FlagCheck::Positive);
  EXPECT_EQ(checkOfFlag("output"), std::nullopt);
}

} // namespace
