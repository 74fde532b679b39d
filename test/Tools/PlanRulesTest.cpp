//===- PlanRulesTest.cpp - all who compile refuse the same plans ----------===//

#include "tessera/Options/PlanRules.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tools/tessera/options/CommandLine.h"
#include "tools/tessera/options/PlanGroup.h"
#include "llvm/ADT/Twine.h"
#include <gtest/gtest.h>
#include <iostream>
#include <map>

using namespace mlir;
using namespace tessera;

namespace {

/// A command with the options of a plan, as tessera compile is one.
class ParsedPlan : public Command {
public:
  void declare(CLI::App &app) override {
    declareModel(app, options, ModelKinds::Sources);
    plan.declare(app);
  }
  void check(CLI::App &app) override {
    plan.read(app);
    plan.check();
  }
  int run() override { return 0; }

private:
  PlannedModel options;
  PlanGroup plan{options};
};

const CommandRegistration<ParsedPlan> registration({2, "compile", "", ""});

struct Choice {
  std::string flag, text; ///< "--zero", "1"
};
using Choices = std::vector<Choice>;
using Texts = std::vector<std::string>;

Texts valuesOf(FlagCheck, bool) { return {"true", "false"}; }
Texts valuesOf(FlagCheck check, int64_t) {
  return check == FlagCheck::Positive ? Texts{"1", "2"} : Texts{"0", "8"};
}
Texts valuesOf(FlagCheck, double) { return {"0", "0.5"}; }
Texts valuesOf(FlagCheck, const std::vector<int64_t> &) { return {"1,1"}; }
Texts valuesOf(FlagCheck, const NamePatterns &) { return {"*"}; }
Texts valuesOf(FlagCheck, const LoraOptions &) { return {"targets=c_attn"}; }
Texts valuesOf(FlagCheck, const LayerRecompute &) { return {"0=full"}; }
Texts valuesOf(FlagCheck, const LayerList &) { return {"0"}; }
Texts valuesOf(FlagCheck, const DeviceTarget &) { return {"cpu", "cuda"}; }
Texts valuesOf(FlagCheck, const MeshShape &) {
  return {"pp=2", "dp=2", "cp=2", "ep=2", "tp=2"};
}
template <typename Enum> Texts valuesOf(FlagCheck, Enum) {
  Texts texts;
  for (const Name<Enum> &row : Names<Enum>::table)
    texts.push_back(row.name);
  return texts;
}

/// Returns the flags that the driver and named pipelines both have, each with a
/// few values.
Choices allChoices() {
  PlanOptions plan;
  Choices choices;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  for (const std::string &text : valuesOf(FlagCheck::CHECK, plan.FIELD))       \
    choices.push_back({flagName(#NAME), text});
#include "tessera/Options/PlanFlags.def"
  return choices;
}

PlanOptions planOf(const Choices &choices, GivenFlags &given) {
  PlanOptions plan;
  for (const Choice &choice : choices) {
    EXPECT_EQ(setFlag(plan, choice.flag.substr(2), choice.text), "");
    given.insert(choice.flag);
  }
  completePlan(plan, given);
  return plan;
}

std::string textOf(const Choices &choices) {
  std::string text;
  for (const Choice &choice : choices)
    text += choice.flag.substr(2) + "=" + choice.text + " ";
  return text;
}

/// Returns why the rules refuse what is chosen.
std::string askRules(const Choices &choices) {
  GivenFlags given;
  PlanOptions plan = planOf(choices, given);
  return checkPlan(plan, given);
}

/// Returns why `tessera-opt --NAME="..."` refuses it.
std::string askPipeline(const char *name, const Choices &choices) {
  OpPassManager passes("builtin.module");
  std::string why;
  LogicalResult built = PassPipelineInfo::lookup(name)->addToPipeline(
      passes, textOf(choices), [&](const Twine &text) {
        why = text.str();
        return failure();
      });
  EXPECT_EQ(succeeded(built), why.empty()) << textOf(choices);
  EXPECT_EQ(passes.empty(), failed(built)) << textOf(choices);
  return why;
}

/// Returns why `tessera compile` refuses it.
std::string askDriver(const Choices &choices) {
  Texts words = {"tessera", "compile", "config.json"};
  for (const Choice &choice : choices)
    words.push_back(choice.flag + "=" + choice.text);
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  std::streambuf *errors = std::cerr.rdbuf(nullptr); // it prints the error too
  ParsedCommand result =
      parseCommandLine(static_cast<int>(argv.size()), argv.data());
  std::cerr.rdbuf(errors);
  std::cerr.clear();
  EXPECT_EQ(bool(result.command), result.error.empty()) << textOf(choices);
  EXPECT_EQ(result.exitCode, bool(result.command) ? 0 : 1) << textOf(choices);
  return result.error;
}

/// Calls `ask` with all pairs of choices beside each of `bases`.
template <typename Ask>
void forEachPair(const std::vector<Choices> &bases, Ask ask) {
  const Choices all = allChoices();
  for (const Choices &base : bases) {
    auto isFree = [&](const Choice &choice) {
      return llvm::none_of(
          base, [&](const Choice &fixed) { return fixed.flag == choice.flag; });
    };
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t k = i + 1; k < all.size(); ++k) {
        if (all[i].flag == all[k].flag || !isFree(all[i]) || !isFree(all[k]))
          continue;
        Choices choices = base;
        choices.push_back(all[i]);
        choices.push_back(all[k]);
        ask(choices);
      }
  }
}

class PlanRules : public testing::Test {
protected:
  static void SetUpTestSuite() { registerCompilerPasses(); }
};

/// Pairs of flags, for each kind of programs on a mesh of all axes.
TEST_F(PlanRules, PipelinesRefuseWhatTheDriverRefuses) {
  std::vector<Choices> bases = {{}};
  for (const Name<ProgramSet> &row : Names<ProgramSet>::table)
    bases.push_back({{"--programs", row.name},
                     {"--mesh", "pp=2,dp=2,ep=2,tp=2"},
                     {"--max-batch", "4"}});
  bases[1].pop_back(); // a training step has no requests
  bases[4].pop_back();
  size_t asked = 0, refused = 0;
  forEachPair(bases, [&](const Choices &choices) {
    const std::string why = askRules(choices);
    EXPECT_EQ(askPipeline("tessera-compile", choices), why) << textOf(choices);
    ++asked;
    refused += !why.empty();
  });
  EXPECT_GT(refused, asked / 10);
  EXPECT_LT(refused, asked);
}

/// The driver asks the rules for what its command line gives.
TEST_F(PlanRules, TheDriverAsksTheRules) {
  const Choices all = allChoices();
  for (const Choice &one : all)
    for (auto [programs, mesh] :
         {std::pair("train", "dp=2"), std::pair("train", "pp=2,dp=2,tp=2"),
          std::pair("generate", "pp=2,dp=2,tp=2"),
          std::pair("encode", "pp=2,dp=2,tp=2")}) {
      if (one.flag == "--programs" || one.flag == "--mesh")
        continue;
      Choices choices = {{"--programs", programs}, {"--mesh", mesh}, one};
      EXPECT_EQ(askDriver(choices), askRules(choices)) << textOf(choices);
    }
}

/// Each stage of the compiler is a pipeline that refuses alike.
TEST_F(PlanRules, AllPipelinesRefuseAlike) {
  const Choices fixedInBf16 = {
      {"--mesh", "tp=2"}, {"--layout-invariant", "8"}, {"--precision", "bf16"}};
  const Choices generated = {{"--mesh", "tp=2"},
                             {"--programs", "generate"},
                             {"--sequence-parallel", "true"}};
  for (const char *name :
       {"tessera-distribute", "tessera-lower", "tessera-communicate",
        "tessera-memory", "tessera-code", "tessera-compile"}) {
    EXPECT_EQ(askPipeline(name, fixedInBf16),
              "--layout-invariant does not support precision 'bf16'; use f32");
    EXPECT_EQ(askPipeline(name, generated), askDriver(generated));
  }
}

/// A program that calls the compiler has no flags: what it changes was given.
TEST_F(PlanRules, CallersOfTheCompilerGetADiagnostic) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  std::string found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    found += diagnostic.str();
    return success();
  });
  std::map<std::string, PlanOptions> refused;
  forEachPair({{}, {{"--programs", "generate"}}}, [&](const Choices &choices) {
    GivenFlags given;
    PlanOptions plan = planOf(choices, given);
    if (std::string why = checkPlan(plan); !why.empty())
      refused[why] = plan;
  });
  EXPECT_GT(refused.size(), 30u);
  for (const auto &[why, plan] : refused) {
    for (auto call : {+[](ModuleOp op, const PlanOptions &asked) {
                        return distributeToStep(op, asked);
                      },
                      +[](ModuleOp op, const PlanOptions &asked) {
                        return compileToArtifact(op, asked, "/no/such/file");
                      },
                      +[](ModuleOp op, const PlanOptions &asked) {
                        return LogicalResult(compileToMetadata(op, asked));
                      }}) {
      found.clear();
      EXPECT_TRUE(failed(call(*module, plan)));
      EXPECT_EQ(found, why);
    }
  }
}

/// Sets a count below what its flag takes; returns false of other fields.
bool setTooSmall(FlagCheck check, int64_t &value) {
  const bool mayBeZero =
      check == FlagCheck::NotNegative || check == FlagCheck::SizeOrZero;
  value = mayBeZero || value == 0 ? -2 : 0; // 0 stands for a size of the model
  return true;
}
template <typename Field> bool setTooSmall(FlagCheck, Field &) { return false; }

/// No rule divides by what a program that calls the compiler has set.
TEST_F(PlanRules, RefusesCountsBelowOne) {
  size_t counts = 0;
  auto expectRefused = [&](const PlanOptions &plan, const std::string &name) {
    ++counts;
    const std::string why = checkPlan(plan);
    EXPECT_EQ(why.rfind(name + ":", 0) == 0 || why.rfind(name + " '", 0) == 0,
              true)
        << name << ": " << why;
  };
  PlanOptions all;
  all.mesh.axes = {{MeshAxis::Pipeline, 2}, {MeshAxis::Data, 2}};
  all.programs = ProgramSet::TrainAndGenerate;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (PlanOptions plan = all; setTooSmall(FlagCheck::CHECK, plan.FIELD))       \
    expectRefused(plan, flagName(#NAME));
#define DRIVER_FLAG PLAN_FLAG
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  EXPECT_GE(counts, 17u);
  PlanOptions plan = all;
  plan.stages.virtualStages = 0;
  EXPECT_EQ(checkPlan(plan),
            "--virtual-stages: must be a number above 0, but is 0");
  plan = all;
  plan.stages.layers = {1, -1};
  EXPECT_EQ(checkPlan(plan),
            "--stages: must be a number not below 0, but is -1");
  for (MeshAxis axis : {MeshAxis::Pipeline, MeshAxis::Data, MeshAxis::Expert}) {
    plan = all;
    plan.mesh.axes = {{axis, 0}};
    EXPECT_EQ(checkPlan(plan), std::string("mesh axis '") + nameOf(axis) +
                                   "' has size 0; it must be at least 1");
  }
}

/// Values that nobody has by default are flags that were given.
TEST_F(PlanRules, WhatIsChangedWasGiven) {
  forEachPair({{}}, [&](const Choices &choices) {
    GivenFlags given;
    PlanOptions plan = planOf(choices, given);
    const GivenFlags changed = changedFlags(plan);
    for (const std::string &flag : changed)
      EXPECT_TRUE(given.count(flag) || flag == "--schedule") << flag;
    if (changed == given) {
      EXPECT_EQ(checkPlan(plan), checkPlan(plan, given)) << textOf(choices);
    }
  });
  PlanOptions plan;
  EXPECT_TRUE(changedFlags(plan).empty());
  plan.sizes.microBatches = 1; // the importer makes it of 0
  plan.optimizer.kind = OptimizerKind::Sgd;
  plan.optimizer.momentum = 0.9; // its own
  EXPECT_EQ(changedFlags(plan), GivenFlags{"--optimizer"});
  // The driver fills in an optimizer's values and the length of a run.
  plan.optimizer = completed(OptimizerOptions());
  plan.learningRate = PlannedModel().plan.learningRate;
  EXPECT_EQ(checkPlan(plan), "");
  plan.programs = ProgramSet::Generate;
  EXPECT_EQ(checkPlan(plan), "");
}

TEST_F(PlanRules, RefusesWhatWouldBeIgnored) {
  const std::map<std::string, Choices> expected = {
      {"--evaluation is about training; leave it out with --programs generate",
       {{"--programs", "generate"}, {"--evaluation", "true"}}},
      {"", {{"--programs", "generate"}, {"--evaluation", "false"}}},
      {"--recompute-layers is about training; leave it out with --programs "
       "generate",
       {{"--programs", "generate"}, {"--recompute-layers", "2"}}},
      {"", {{"--programs", "generate"}, {"--zero", "0"}}},
      {"--clip is about training; leave it out with --programs encode",
       {{"--programs", "encode"}, {"--clip", "1"}}},
      {"--bucket-size is about training; leave it out with --programs "
       "generate",
       {{"--programs", "generate"}, {"--bucket-size", "0"}}},
      {"--candidates is about generation; give --programs generate, too",
       {{"--candidates", "4"}}},
      {"--replicated-layers names layers that mesh axis 'tp' does not split, "
       "and it has one rank; use a mesh with tp=2 or more, or leave it out",
       {{"--replicated-layers", "0"}}},
      {"--virtual-stages is about pipeline stages, but the mesh has none; give "
       "it an axis pp, e.g. pp=2",
       {{"--virtual-stages", "1"}}},
      {"--gemm-epilogues needs --device cuda; on the CPU kernels do it",
       {{"--gemm-epilogues", "true"}}},
      {"--dp-sync parameter-server updates whole parameters, --zero 2 slices "
       "of them; leave one of the two out",
       {{"--mesh", "dp=2"},
        {"--dp-sync", "parameter-server"},
        {"--zero", "2"}}},
      {"--max-batch 4 cannot be split over 3 ranks of dp and ep; use a "
       "multiple of 3",
       {{"--programs", "generate"}, {"--mesh", "dp=3"}}},
  };
  for (const auto &[why, choices] : expected) {
    EXPECT_EQ(askRules(choices), why);
    EXPECT_EQ(askDriver(choices), why);
    EXPECT_EQ(askPipeline("tessera-compile", choices), why);
  }
}

TEST_F(PlanRules, KnowsWhichProgramsUseAFlag) {
  EXPECT_TRUE(isUsedBy(FlagPurpose::Stages, ProgramSet::Generate));
  EXPECT_FALSE(isUsedBy(FlagPurpose::Step, ProgramSet::Generate));
  EXPECT_FALSE(isUsedBy(FlagPurpose::Sequences, ProgramSet::Generate));
  EXPECT_TRUE(isUsedBy(FlagPurpose::Sequences, ProgramSet::Encode));
  EXPECT_TRUE(isUsedBy(FlagPurpose::Optimizer, ProgramSet::TrainAndGenerate));
  EXPECT_FALSE(isUsedBy(FlagPurpose::Encoding, ProgramSet::Train));
  for (FlagPurpose purpose :
       {FlagPurpose::RequestLength, FlagPurpose::Inference}) {
    EXPECT_TRUE(isUsedBy(purpose, ProgramSet::Generate));
    EXPECT_FALSE(isUsedBy(purpose, ProgramSet::TrainAndGenerate));
  }
  EXPECT_FALSE(isUsedBy(FlagPurpose::SequenceSplit, ProgramSet::Generate));
  EXPECT_FALSE(isUsedBy(FlagPurpose::Documents, ProgramSet::Encode));
}

} // namespace
