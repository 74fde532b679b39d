//===- AgreementTest.cpp - what the processes of a run have alike ---------===//

#include "tools/tessera/options/CommandLine.h"
#include "tools/tessera/train/TrainDeclaration.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace tessera;

namespace {

/// The command without its run.
class ParsedTrain : public Command {
public:
  void declare(CLI::App &app) override { declaration.declare(app); }
  void check(CLI::App &app) override { declaration.check(app, nullptr); }
  int run() override { return 0; }

  TrainOptions options;

private:
  TrainDeclaration declaration{options};
};

const CommandRegistration<ParsedTrain> registration({1, "train", "", ""});

std::vector<std::pair<std::string, std::string>>
parse(std::vector<std::string> words) {
  words.insert(words.begin(), {"tessera", "train"});
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  ParsedCommand parsed =
      parseCommandLine(static_cast<int>(argv.size()), argv.data());
  EXPECT_TRUE(parsed.command) << parsed.error;
  return parsed.command
             ? static_cast<ParsedTrain &>(*parsed.command).options.shared
             : std::vector<std::pair<std::string, std::string>>();
}

std::map<std::string, std::string> sharedOf(std::vector<std::string> words) {
  if (std::find(words.begin(), words.end(), "--data") == words.end())
    words.insert(words.end(), {"--data", "text"});
  auto shared = parse(std::move(words));
  return {shared.begin(), shared.end()};
}

/// A new option of `train` takes part, unless Agreement.cpp says that it is
/// each process's own; either way it is named here.
TEST(Agreement, EachOptionTakesPartOrIsOfOneProcess) {
  std::set<std::string> names;
  for (const auto &[name, value] : sharedOf({"config.json"}))
    names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{
                       "--allow-mixed-cpus",
                       "--batch",
                       "--beta1",
                       "--beta2",
                       "--bucket-size",
                       "--candidates",
                       "--change-data",
                       "--checkpoint-dir",
                       "--clip",
                       "--context-parallel",
                       "--data-format",
                       "--decay-steps",
                       "--decoder-seq-length",
                       "--document-mask",
                       "--dp-sync",
                       "--early-stop",
                       "--epochs",
                       "--eval-batches",
                       "--eval-every",
                       "--evaluation",
                       "--expert-buffer",
                       "--freeze",
                       "--gemm-epilogues",
                       "--ignore-labels",
                       "--keep",
                       "--keep-best",
                       "--layer-recompute",
                       "--layout-invariant",
                       "--load-adapter",
                       "--load-weights",
                       "--lora",
                       "--lr",
                       "--lr-schedule",
                       "--max-bad-steps",
                       "--max-batch",
                       "--max-length",
                       "--max-predictions",
                       "--max-shard-size",
                       "--memory-limit",
                       "--mesh",
                       "--micro-batches",
                       "--min-lr",
                       "--momentum",
                       "--nesterov",
                       "--no-decay",
                       "--optimizer",
                       "--overlap",
                       "--padding-mask",
                       "--poison-padding",
                       "--precision",
                       "--prefill-chunk",
                       "--programs",
                       "--random-weights",
                       "--ranks",
                       "--recompute",
                       "--recompute-layers",
                       "--replicated-layers",
                       "--save-every",
                       "--save-timeout-ms",
                       "--schedule",
                       "--seed",
                       "--separator",
                       "--seq-length",
                       "--sequence-parallel",
                       "--special-ids",
                       "--stages",
                       "--steps",
                       "--timeout-ms",
                       "--validation-fraction",
                       "--virtual-stages",
                       "--warmup-steps",
                       "--weight-decay",
                       "--weights",
                       "--zero",
                       "weights of --data",
                   }));
}

TEST(Agreement, ValuesCountAndNotTheirSpelling) {
  EXPECT_EQ(sharedOf({"config.json", "--lr", "2e-3"}),
            sharedOf({"config.json", "--lr=0.002"}));
  EXPECT_EQ(sharedOf({"config.json", "--tensor-model-parallel-size", "2"}),
            sharedOf({"config.json", "--mesh", "tp=2"}));
  EXPECT_EQ(sharedOf({"config.json", "--steps", "100"}),
            sharedOf({"config.json"}));
  EXPECT_EQ(
      sharedOf({"config.json", "--checkpoint-dir", "a", "--resume"}),
      sharedOf({"config.json", "--checkpoint-dir", "a", "--resume", "a"}));
}

TEST(Agreement, EachDifferenceShows) {
  const std::vector<std::vector<std::string>> ways = {
      {"a.tsr"},
      {"a.tsr", "--lr", "0.001"},
      {"a.tsr", "--lr", "0.0010000000001"},
      {"a.tsr", "--steps", "7"},
      {"a.tsr", "--warmup-steps", "7"},
      {"a.tsr", "--lr-schedule", "wsd"},
      {"a.tsr", "--lr-schedule", "wsd", "--decay-steps", "7"},
      {"a.tsr", "--seed", "7"},
      {"a.tsr", "--checkpoint-dir", "a"},
      {"a.tsr", "--checkpoint-dir", "b"},
      {"a.tsr", "--checkpoint-dir", "a", "--save-every", "7"},
      {"a.tsr", "--load-weights", "a"},
      {"a.tsr", "--data", "a:1", "b:2"},
      {"a.tsr", "--data", "a:1", "b:2.0000000001"},
      {"a.tsr", "--validation-fraction", "0.1"},
  };
  std::set<std::map<std::string, std::string>> different;
  for (const auto &way : ways)
    different.insert(sharedOf(way));
  EXPECT_EQ(different.size(), ways.size());
}

TEST(Agreement, ScheduleOfAnArtifactIsNotTheDefaultOne) {
  EXPECT_EQ(sharedOf({"a.tsr"})["--lr"], "the artifact's");
  EXPECT_EQ(sharedOf({"a.tsr"})["--lr-schedule"], "the artifact's");
  EXPECT_EQ(sharedOf({"a.tsr", "--lr", "1e-3"})["--lr"], "0.001");
}

} // namespace
