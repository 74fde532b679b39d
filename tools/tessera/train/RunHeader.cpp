//===- RunHeader.cpp - what a run is, before its first step ---------------===//

#include "tools/tessera/train/RunHeader.h"
#include "tessera/Options/Counted.h"
#include "tessera/printable.hpp"
#include "tools/tessera/train/OpenSession.h"

using namespace tessera;

/// Returns "1 epoch", "0.732 epochs" or "92800 epochs".
static std::string epochsText(double epochs) {
  char text[60];
  std::snprintf(text, sizeof text,
                epochs < 1000 ? "%.3g epoch%s" : "%.0f epoch%s", epochs,
                epochs == 1 ? "" : "s");
  return text;
}

/// Returns how many sequences the whole run reads. Earlier steps may have had
/// another batch.
static double sequencesRead(const RunFacts &facts) {
  return static_cast<double>(facts.sequencesRead) +
         static_cast<double>(facts.lastStep - facts.firstStep) *
             static_cast<double>(tsr_artifact_batch(facts.artifact));
}

static int64_t tokensOfSequence(const RunFacts &facts) {
  return tsr_artifact_sequence(facts.artifact) +
         tsr_artifact_target(facts.artifact);
}

static std::string dataText(const RunFacts &facts) {
  int64_t sequences = tsr_data_sequences(facts.data);
  std::string text = "data: " + counted(tsr_data_tokens(facts.data), "token") +
                     ", " + counted(sequences, "sequence") + " of " +
                     std::to_string(tokensOfSequence(facts)) + "; " +
                     counted(facts.lastStep, "step") + " of " +
                     counted(tsr_artifact_batch(facts.artifact), "sequence");
  if (!facts.options.dataWeights.empty())
    return text + "\n";
  return text + (facts.lastStep == 1 ? " is " : " are ") +
         epochsText(sequencesRead(facts) / static_cast<double>(sequences)) +
         "\n";
}

/// Files with weights are read at different rates.
static std::string mixtureText(const RunFacts &facts) {
  std::string text;
  for (size_t i = 0; i < facts.options.dataWeights.size(); ++i) {
    int64_t first = 0, tokens = 0;
    double share = 0;
    if (tsr_data_file(facts.data, i, &first, &tokens, &share) != TSR_OK)
      continue;
    double read = share * sequencesRead(facts) *
                  static_cast<double>(tokensOfSequence(facts));
    char percent[40];
    std::snprintf(percent, sizeof percent, "%.4g %%", 100 * share);
    text += "  " + printable(facts.options.data[i]) + ": " +
            counted(tokens, "token") + ", " + percent + " of the sequences, " +
            epochsText(read / static_cast<double>(tokens)) + "\n";
  }
  return text;
}

static std::string originText(const RunFacts &facts) {
  const TrainOptions &options = facts.options;
  if (options.resumes)
    return "as of step " + std::to_string(facts.firstStep) + " of '" +
           printable(options.resumeDir) + "'";
  if (options.weights.empty())
    return "drawn at random with --seed " + std::to_string(options.seed);
  return "from '" + printable(options.weights) + "'" +
         (options.adapter.empty()
              ? ""
              : " and '" + printable(options.adapter) + "'");
}

static std::string parametersText(const RunFacts &facts) {
  const Report &report = facts.report;
  return "parameters: " + std::to_string(report.trainedParameters) +
         " trained, " +
         std::to_string(report.parameters - report.trainedParameters) +
         " frozen; " + originText(facts) + "\n";
}

std::string tessera::runHeader(const RunFacts &facts) {
  return "training " + facts.report.headline() + processesText(facts.options) +
         "\n" + dataText(facts) + mixtureText(facts) + parametersText(facts);
}
