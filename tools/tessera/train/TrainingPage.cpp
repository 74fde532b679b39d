//===- TrainingPage.cpp - the page of a run -------------------------------===//

#include "tools/tessera/train/TrainingPage.h"
#include "tessera/Page/Page.h"
#include "tessera/Predict/Prediction.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/output/PrintError.h"

using namespace tessera;
namespace json = llvm::json;

static constexpr auto kInterval = std::chrono::seconds(10);

bool TrainingPage::simulate() {
  if (!isWanted() || options.cluster.empty())
    return true;
  llvm::Expected<simulate::Cluster> cluster =
      simulate::readCluster(options.cluster);
  if (!cluster)
    return !printError(cluster.takeError());
  llvm::Expected<SimulatedStep> step =
      simulateStep(metadata, report, *cluster, SimulatedStep::Spans::Kept);
  if (!step)
    return !printError(step.takeError());
  simulated = std::move(*step);
  return true;
}

bool TrainingPage::prepare(int64_t firstStep) {
  if (!isWanted() || !options.resumes || options.log.empty())
    return true;
  bool works = steps.read(options.log);
  steps.continueAfter(firstStep);
  return works;
}

bool TrainingPage::readTrace() {
  if (!isWanted())
    return true;
  std::optional<simulate::Program> read;
  if (!simulated) {
    llvm::Expected<simulate::Program> own =
        simulate::readStep(metadata, report.program);
    if (!own)
      return !printError(own.takeError());
    read = std::move(*own);
  }
  const simulate::Program &program = simulated ? simulated->program : *read;
  llvm::Expected<MeasuredStep> measured =
      readMeasuredStep(options.trace, program);
  if (!measured)
    return !printError(measured.takeError());
  if (simulated)
    step = std::move(
        *Prediction{program, simulated->cluster, simulated->times, &*measured}
             .json()
             .getAsObject());
  else
    step = json::Object{{"measured", measured->json(program)}};
  return true;
}

json::Object TrainingPage::json(const State &state) const {
  json::Array given;
  for (const auto &[name, value] : options.given)
    given.push_back(json::Array{name, json::fixUTF8(value)});
  json::Object all{{"state", state.name},
                   {"last_step", state.lastStep},
                   {"options", std::move(given)},
                   {"history", steps.json()},
                   {"report", report.json()}};
  if (state.name == llvm::StringRef("failed"))
    all["error"] = json::fixUTF8(printedErrors());
  if (state.baseline > 0)
    all["byte_frequencies_loss"] = state.baseline;
  if (step)
    all["step"] = json::Object(*step);
  return all;
}

std::error_code TrainingPage::put(const State &state) const {
  return writeOutput(options.html,
                     {pageOf({"train", report.headline(), json(state)})});
}

void TrainingPage::update(const State &state) {
  Clock::time_point begin = Clock::now();
  std::error_code error = put(state);
  if (error && !hasFailed)
    printNote("cannot write '" + options.html + "': " + error.message());
  hasFailed |= static_cast<bool>(error);
  Clock::time_point end = Clock::now();
  due = end + std::max<Clock::duration>(kInterval, 100 * (end - begin));
}

bool TrainingPage::write(const State &state) {
  if (!isWanted())
    return true;
  std::error_code error = put(state);
  return !error ||
         !printError("cannot write '" + options.html + "': " + error.message());
}
