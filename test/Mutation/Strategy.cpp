//===- Strategy.cpp - a program whose mutants are judged ------------------===//

#include "test/Mutation/Strategy.h"
#include "tessera/Options/PlanFlags.h"
#include "test/Models.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

using namespace tessera;
using namespace tessera::test;

// Two micro-batches: an offset that a program can have is one that matters.
static constexpr int64_t kMicroBatches = 2;
// The gradient is always clipped, so that its norm matters. AdamW's steps are
// not signs of gradients: noise around 0 stays noise.
static constexpr double kClip = 0.1, kEpsilon = 1e-6;

std::string Strategy::configPath() const {
  return config.empty() ? std::string(MUTATION_FOLDER) + "/" + model + ".json"
                        : config;
}

std::string Strategy::apply(PlanOptions &plan) const {
  if (!generates()) {
    plan.sizes.microBatches = kMicroBatches;
    plan.optimizer.clip = kClip;
    plan.optimizer.epsilon = kEpsilon;
  }
  if (std::string why = plan.mesh.parse(mesh); !why.empty())
    return why;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(flags).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (size_t k = 0; k < words.size(); ++k) {
    std::string name = words[k].drop_front(2).str(), value = "true";
    if (k + 1 < words.size() && !words[k + 1].starts_with("--"))
      value = words[++k].str();
    if (std::string why = setFlag(plan, name, value); !why.empty())
      return why;
  }
  return "";
}

std::vector<Strategy> tessera::test::strategies() {
  return {
      {"gpt2", "dp=2,tp=2", ""},
      {"gpt2", "dp=2,tp=2", "--sequence-parallel"},
      {"gpt2", "dp=2,tp=2", "--zero 1"},
      {"gpt2", "dp=2,tp=2", "--zero 2"},
      {"gpt2", "dp=2,tp=2", "--sequence-parallel --zero 3 --recompute full",
       true},
      {"gpt2", "dp=2,tp=2", "--dp-sync parameter-server"},
      {"gpt2", "cp=2,tp=2", ""},
      {"gpt2", "dp=2,cp=2", "--context-parallel ulysses --zero 3"},
      {"gpt2", "dp_replicate=2,dp=2", "--zero 3"},
      {"gpt2", "pp=2,dp=2", "--zero 1", true},
      {"gpt2", "pp=4", "--micro-batches 4"},
      {"gpt2", "pp=2,tp=2", "--schedule interleaved --virtual-stages 2"},
      {"gpt2", "pp=2,cp=2", "--schedule zero-bubble --recompute full"},
      {"llama", "dp=2,tp=4", "--sequence-parallel --zero 2"},
      {"llama", "cp=2,dp=2", "--context-parallel ulysses", true},
      {"llama", "pp=2,dp=2", "--schedule 1f1b --recompute selective"},
      {"bert", "dp=2,tp=2", "--sequence-parallel --zero 1"},
      {"bert", "cp=2,dp=2", "--zero 2", true},
      {"bert", "pp=2,dp=2", "--schedule zero-bubble"},
  };
}

static const char *const kGenerate =
    "--programs generate --max-batch 4 --prefill-chunk 3";

std::vector<Strategy> tessera::test::generationStrategies() {
  const char *flags = kGenerate;
  return {
      {"gpt2", "dp=2,tp=2", flags, true},
      {"mistral-window", "tp=2", flags},
      {"qwen2", "tp=4", flags}, // above its one key head
      {"mixtral", "tp=2,ep=2", flags},
      {"gpt2", "pp=2", flags}, // sends the stream and the tied table
      {"mistral-window", "cp=2,dp=2", flags, true},
      {"t5-relu", "dp=2,tp=2", flags}, // encodes sources
      {"gpt2", "tp=2",
       "--programs generate --max-batch 4 --prefill-chunk 3 "
       "--candidates 5"},
  };
}

std::vector<Strategy> tessera::test::modelStrategies() {
  std::vector<Strategy> all;
  for (const TestModel &model : testModels()) {
    auto add = [&](const char *mesh, const char *flags) {
      all.push_back({model.name, mesh, flags, true, model.path()});
    };
    add("dp=2,tp=2", "--sequence-parallel --zero 2");
    add("pp=2,cp=2", "--recompute full");
    if (model.experts)
      add("dp=2,ep=2", "--zero 1");
    if (model.generates())
      add(model.experts ? "tp=2,ep=2" : "dp=2,tp=2", kGenerate);
    if (model.generates() && model.splitsHeads(4) && model.keyHeads % 4)
      add("tp=4", kGenerate); // shares the places of a cache
  }
  return all;
}
