//===- CompilerTest.cpp - the library of the compiler ---------------------===//

#include "tessera/compiler.hpp"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using tessera::Compiler;

namespace {

/// Returns the message of what a call throws, "" if it throws nothing.
template <typename Call> std::string errorOf(Call call) {
  try {
    call();
  } catch (const tessera::Exception &error) {
    EXPECT_NE(error.status(), TSR_OK);
    return error.what();
  }
  return "";
}

bool holds(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// A folder that is removed with what is in it.
class Folder {
public:
  Folder() {
    std::string name = testing::TempDir() + "compiler-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() {
    for (const std::string &file : files)
      std::remove(file.c_str());
    rmdir(path.c_str());
  }
  std::string file(const std::string &name) {
    files.push_back(path + "/" + name);
    return files.back();
  }
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(file(name)) << text;
    return files.back();
  }

private:
  std::string path;
  std::vector<std::string> files;
};

} // namespace

TEST(Compiler, ReportsWhatThePlanAsksFor) {
  Compiler compiler(MODEL);
  EXPECT_TRUE(holds(compiler.report(), "\"ranks\": 1"));
  compiler.set("mesh", "dp=2,tp=2");
  EXPECT_TRUE(holds(compiler.report(), "\"ranks\": 4"));
}

TEST(Compiler, SimulatesForTheCluster) {
  Compiler compiler(MODEL);
  const std::string json = compiler.set("mesh", "dp=2").simulate(CLUSTER);
  EXPECT_TRUE(holds(json, "\"step_seconds\"")) << json;
  EXPECT_TRUE(
      holds(errorOf([&] { compiler.simulate("none.toml"); }), "none.toml"));
}

/// The messages are the driver's, and nothing is made.
TEST(Compiler, RefusesPlansAsTheDriverDoes) {
  struct Refused {
    std::vector<std::pair<const char *, const char *>> options;
    const char *message;
  };
  const Refused cases[] = {
      {{{"zero", "1"}}, "--zero splits state over mesh axes 'dp' and 'cp'"},
      {{{"mesh", "dp=2"}, {"layout-invariant", "8"}, {"precision", "bf16"}},
       "--layout-invariant"},
      {{{"sequence-parallel", "true"}}, "--sequence-parallel"},
      {{{"programs", "generate"}, {"lr", "0.1"}}, "--lr"},
      {{{"min-lr", "1"}, {"lr", "0.1"}}, "--min-lr 1 is larger than --lr 0.1"},
  };
  Folder folder;
  const std::string path = folder.file("model.tsr");
  for (const Refused &refused : cases) {
    Compiler compiler(MODEL);
    for (const auto &[option, value] : refused.options)
      compiler.set(option, value);
    for (const std::string &why : {errorOf([&] { compiler.report(); }),
                                   errorOf([&] { compiler.verify(); }),
                                   errorOf([&] { compiler.simulate(CLUSTER); }),
                                   errorOf([&] { compiler.compile(path); })})
      EXPECT_TRUE(holds(why, refused.message)) << why;
  }
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(Compiler, RefusesOptionsWhenTheyAreSet) {
  Compiler compiler(MODEL);
  EXPECT_EQ(errorOf([&] { compiler.set("messh", "dp=2"); }),
            "unknown option 'messh'");
  EXPECT_TRUE(holds(errorOf([&] { compiler.set("mesh", "dp=0"); }), "dp"));
  EXPECT_TRUE(
      holds(errorOf([&] { compiler.set("dump-ir", "ir"); }), "dump-ir"));
  EXPECT_TRUE(holds(compiler.report(), "\"ranks\": 1"));
}

/// The line of the model is named, and a later call works.
TEST(Compiler, NamesTheLineOfAModel) {
  Folder folder;
  const std::string config = folder.write(
      "config.json", "{\n  \"model_type\": \"gpt2\",\n  \"n_embd\": 7\n}\n");
  Compiler compiler(config);
  EXPECT_TRUE(holds(errorOf([&] { compiler.report(); }), "config.json:"));
  EXPECT_TRUE(holds(Compiler(MODEL).report(), "\"ranks\": 1"));
}

TEST(Compiler, RefusesWhatAPassRefuses) {
  Compiler compiler(MODEL);
  EXPECT_EQ(errorOf([&] { compiler.set("mesh", "tp=7").report(); }),
            "'transformer.h.0.attn.c_attn.weight': 4 heads cannot be split "
            "over mesh axis 'tp' of size 7; use a size of 'tp' that divides 4");
}

TEST(Compiler, RefusesWhatIsNoModel) {
  EXPECT_EQ(errorOf([] { Compiler("model.tsr"); }),
            "'model.tsr' is compiled already; give the config.json that it was "
            "made of");
  EXPECT_EQ(errorOf([] { Compiler("none"); }),
            "there is no file or folder 'none'");
}

TEST(Compiler, RefusesSearchesThatHaveNoAnswer) {
  Compiler compiler(MODEL);
  tessera::PlanSearch search;
  search.cluster = CLUSTER;
  auto why = [&] { return errorOf([&] { compiler.findPlan(search); }); };
  EXPECT_TRUE(holds(why(), "give --global-batch"));
  compiler.set("batch", "8");
  search.objective = "beauty";
  EXPECT_TRUE(holds(why(), "'beauty'"));
  search.objective = "time";
  search.devices = -1;
  EXPECT_TRUE(holds(why(), "negative"));
  search.devices = 2;
  compiler.set("memory-limit", "1KiB");
  EXPECT_TRUE(holds(why(), "no plan fits into 1024 bytes"));
}

/// A plan file of another model, or one that contradicts, changes nothing.
TEST(Compiler, LoadsPlansThatFit) {
  Folder folder;
  const std::string path = folder.file("plan.json");
  Compiler compiler(MODEL);
  compiler.set("mesh", "dp=2").set("batch", "8");
  compiler.savePlan(path);
  Compiler same(MODEL);
  same.loadPlan(path);
  EXPECT_TRUE(holds(same.report(), "\"ranks\": 2"));
  Compiler other(MODEL);
  other.set("mesh", "dp=4");
  EXPECT_TRUE(holds(errorOf([&] { other.loadPlan(path); }),
                    "says mesh dp=2, but dp=4 is set"));
  EXPECT_TRUE(holds(other.report(), "\"ranks\": 4"));
  EXPECT_EQ(errorOf([&] { other.loadPlan("none.json"); }),
            "there is no file 'none.json'");
}

/// A plan is taken whole or not at all.
TEST(Compiler, TakesNothingOfAPlanThatItRefuses) {
  Folder folder;
  const std::string path = folder.file("plan.json");
  Compiler(MODEL).set("mesh", "dp=2").set("zero", "1").savePlan(path);
  std::ifstream saved(path);
  std::string text{std::istreambuf_iterator<char>(saved), {}};
  text.replace(text.find("\"zero\": \"1\""), 11, "\"zero\": \"9\"");
  Compiler compiler(MODEL);
  const std::string wrong = folder.write("wrong.json", text);
  EXPECT_TRUE(holds(errorOf([&] { compiler.loadPlan(wrong); }), "--zero 9"));
  EXPECT_TRUE(holds(compiler.report(), "\"ranks\": 1"));
}

/// Predictions are of the plan that was found, and of no other.
TEST(Compiler, SavesPredictionsOfItsPlanAlone) {
  Folder folder;
  const std::string path = folder.file("plan.json");
  auto saved = [&](const Compiler &compiler) {
    compiler.savePlan(path);
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  Compiler compiler(MODEL);
  tessera::PlanSearch search;
  search.cluster = CLUSTER;
  search.evaluations = 1;
  compiler.set("mesh", "dp=2").set("batch", "8").findPlan(search);
  EXPECT_TRUE(holds(saved(compiler), "predicted"));
  compiler.set("micro-batches", "1");
  EXPECT_FALSE(holds(saved(compiler), "predicted"));
}

/// Progress is told, and nothing is printed.
TEST(Compiler, TellsAndPrintsNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::vector<std::string> told;
  Compiler compiler(MODEL);
  compiler.listen([&](const std::string &line) { told.push_back(line); });
  compiler.set("mesh", "dp=2").set("batch", "8");
  tessera::PlanSearch search;
  search.cluster = CLUSTER;
  search.evaluations = 1;
  compiler.findPlan(search);
  errorOf([&] { compiler.set("zero", "3").set("mesh", "tp=2").report(); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(holds(told.front(), "compiling")) << told.front();
}

TEST(Compiler, WorksInSeveralThreads) {
  std::vector<std::string> reports(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < reports.size(); ++i)
    threads.emplace_back([&reports, i] {
      reports[i] = Compiler(MODEL).set("mesh", "dp=2,tp=2").report();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &report : reports)
    EXPECT_EQ(report, reports.front());
}

TEST(Compiler, RefusesNullAndOtherHeaders) {
  EXPECT_EQ(tsr_compiler_create(nullptr, nullptr), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "tsr_compiler_create: model is NULL");
  EXPECT_EQ(tsr_compiler_set(nullptr, "mesh", "dp=2"), TSR_INVALID_ARGUMENT);
  Compiler compiler(MODEL);
  tsr_plan_search search = {};
  search.cluster = CLUSTER;
  search.size = sizeof search - 8;
  EXPECT_EQ(tsr_compiler_find_plan(compiler.get(), &search, nullptr),
            TSR_INVALID_ARGUMENT);
  EXPECT_TRUE(holds(tsr_last_error(), "headers of the library"));
  tsr_compiler_destroy(nullptr);
}
