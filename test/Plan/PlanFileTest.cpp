//===- PlanFileTest.cpp - what a plan that is a file may say --------------===//

#include "tessera/Plan/PlanFile.h"
#include "tessera/Options/PlanFlags.h"
#include "tessera/Plan/SearchSpace.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::plan;

namespace {

/// Reads a text as a plan; returns what is wrong with it, without the path.
std::string readText(const std::string &text, PlanFile &plan) {
  llvm::SmallString<128> path;
  int file = -1;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("plan", "json", file, path));
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << text;
  plan = PlanFile();
  std::string why = readPlan(path.str().str(), plan);
  llvm::sys::fs::remove(path);
  const std::string place = "'" + path.str().str() + "': ";
  return why.rfind(place, 0) == 0 ? why.substr(place.size()) : why;
}

std::string withOption(const std::string &name, const std::string &value) {
  return R"({"tessera_plan": 1, "model": {"type": "gpt2", "fingerprint": "0"},
             "options": {"batch": "8", ")" +
         name + "\": \"" + value + "\"}}";
}

/// Each row of the table: a plan holds it and writes it again, or refuses it.
TEST(PlanFile, HoldsWhatNamesNoPath) {
  PlanFile plan, again;
  auto expectHeld = [&](FlagCheck check, const std::string &flag) {
    const std::string name = flag.substr(2);
    std::string why = readText(withOption(name, "x"), plan);
    if (name == "batch")
      return;
    if (check == FlagCheck::File || check == FlagCheck::Directory) {
      EXPECT_NE(why.find("option '" + name + "' names a "), std::string::npos)
          << why;
      EXPECT_NE(why.find("; a plan may not, give it on the command line"),
                std::string::npos)
          << why;
    } else if (name == PlanFile::kRecomputeOption ||
               name == PlanFile::kReplicatedOption) {
      EXPECT_NE(why.find("must be the list 'layers'"), std::string::npos);
    } else {
      ASSERT_EQ(why, "") << name;
      EXPECT_EQ(readText(plan.json(), again), "") << name;
      EXPECT_EQ(plan.options, again.options);
      EXPECT_EQ(plan.options.size(), 2u) << name;
    }
  };
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  expectHeld(FlagCheck::CHECK, flagName(#NAME));
#define DRIVER_FLAG PLAN_FLAG
#define MESH_ALIAS(AXIS, NAME)                                                 \
  PLAN_FLAG(mesh, NAME, Positive, Compiled, General, "")
#include "tessera/Options/PlanFlags.def"
}

/// The options of a search are part of the plan that it writes, except those
/// that no reader of a plan takes.
TEST(PlanFile, IsWrittenWithoutPaths) {
  SearchSpace space;
  space.given = {{"--reproducer", "/tmp/r.mlir"},
                 {"--dump-ir", "/tmp/ir"},
                 {"--clip", "0.5"}};
  PlanOptions plan;
  plan.debugging = {"/tmp/ir", "/tmp/r.mlir"};
  auto options = chosenOptions(space, plan);
  for (const auto &[name, text] : options)
    EXPECT_EQ(refusePlanned(name), "") << name << " " << text;
  EXPECT_EQ(std::count(options.begin(), options.end(),
                       std::pair<std::string, std::string>("clip", "0.5")),
            1);
}

} // namespace
