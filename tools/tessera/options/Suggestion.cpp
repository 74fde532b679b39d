//===- Suggestion.cpp - what a mistyped word may have meant ---------------===//

#include "tools/tessera/options/Suggestion.h"
#include <algorithm>

using namespace tessera;

/// The distance of Damerau and Levenshtein, with one edit for each pair.
static size_t distanceOf(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1,
                                         std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        edits[i][k] = i + k;
        continue;
      }
      size_t replaced = edits[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
      edits[i][k] =
          std::min({edits[i - 1][k] + 1, edits[i][k - 1] + 1, replaced});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        edits[i][k] = std::min(edits[i][k], edits[i - 2][k - 2] + 1);
    }
  return edits[a.size()][b.size()];
}

std::string tessera::nearestName(const std::string &word,
                                 const std::vector<std::string> &names) {
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string &name : names)
    if (size_t distance = distanceOf(word, name); distance < least) {
      least = distance;
      nearest = name;
    }
  return nearest;
}

std::string tessera::suggestion(const std::string &name,
                                const std::string &otherwise) {
  return name.empty() ? otherwise : "did you mean " + name + "?";
}

std::string tessera::standInFor(const std::string &option) {
  static constexpr const char *accumulation =
      "--micro-batches N; --batch counts the sequences of all N together";
  static const struct {
    const char *option, *standIn;
  } known[] = {
      {"--tp", "--mesh tp=N"},
      {"--dp", "--mesh dp=N"},
      {"--pp", "--mesh pp=N"},
      {"--cp", "--mesh cp=N"},
      {"--ep", "--mesh ep=N"},
      {"--tensor-parallel-size", "--mesh tp=N"},
      {"--pipeline-parallel-size", "--mesh pp=N"},
      {"--context-parallel-size", "--mesh cp=N"},
      {"--expert-model-parallel-size", "--mesh ep=N"},
      {"--expert-parallel-size", "--mesh ep=N"},
      {"--num-layers-per-virtual-pipeline-stage", "--virtual-stages"},
      {"--use-distributed-optimizer", "--zero 1"},
      {"--num-distributed-optimizer-instances", "--mesh dp_replicate=N"},
      {"--data-parallel-replicate-degree", "--mesh dp_replicate=N"},
      {"--data-parallel-shard-degree", "--mesh dp=N"},
      {"--zero-stage", "--zero"},
      {"--bf16", "--precision bf16"},
      {"--fp32", "--precision f32"},
      {"--fp16", "--precision bf16, as f16 is not supported"},
      {"--dtype", "--precision"},
      {"--global-batch-size", "--batch"},
      {"--batch-size", "--batch"},
      {"--micro-batch-size", "--micro-batches, the number of micro-batches"},
      {"--gradient-accumulation-steps", accumulation},
      {"--gradient-accumulation", accumulation},
      {"--grad-accumulation", accumulation},
      {"--grad-accumulation-steps", accumulation},
      {"--grad-accum", accumulation},
      {"--grad-accum-steps", accumulation},
      {"--accumulate-grad-batches", accumulation},
      {"--accumulation-steps", accumulation},
      {"--train-iters", "--steps"},
      {"--max-steps", "--steps"},
      {"--lr-warmup-iters", "--warmup-steps"},
      {"--lr-decay-style", "--lr-schedule"},
      {"--lr-scheduler-type", "--lr-schedule"},
      {"--lr-wsd-decay-iters", "--decay-steps"},
      {"--learning-rate", "--lr"},
      {"--clip-grad", "--clip"},
      {"--max-grad-norm", "--clip"},
      {"--adam-beta1", "--beta1"},
      {"--adam-beta2", "--beta2"},
      {"--data-path", "--data"},
      {"--train-data-path", "--data"},
      {"--save", "--checkpoint-dir"},
      {"--save-interval", "--save-every"},
      {"--load", "--resume, or --load-weights for a model of transformers"},
      {"--recompute-activations", "--recompute selective"},
      {"--recompute-granularity", "--recompute"},
      {"--num-layers", "config.json, which describes the model"},
      {"--hidden-size", "config.json, which describes the model"},
      {"--num-attention-heads", "config.json, which describes the model"},
      {"--vocab-size", "config.json, which describes the model"}};
  for (const auto &row : known)
    if (option == row.option)
      return row.standIn;
  return "";
}
