//===- PipelineFlags.cpp - the command line of pipeline parallelism -------===//

#include "tools/tessera/options/PipelineFlags.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Schedule/Schedule.h"

using namespace tessera;

static std::string notPositive(std::string &text) {
  int64_t value = 0;
  bool fits = CLI::detail::lexical_cast(text, value) && value > 0;
  return fits ? "" : "must be a number above 0, but is " + text;
}

std::vector<CLI::Option *> tessera::addPipelineOptions(CLI::App *sub,
                                                       DriverOptions &options) {
  CLI::Validator positive(notPositive, "");
  CLI::Option *schedule =
      sub->add_option("--schedule", options.schedule,
                      "Of pp: gpipe, 1f1b, interleaved or zero-bubble "
                      "(default: 1f1b; interleaved with --virtual-stages)")
          ->check(
              CLI::IsMember({"gpipe", "1f1b", "interleaved", "zero-bubble"}));
  CLI::Option *chunks =
      sub->add_option("--virtual-stages", options.virtualStages,
                      "Chunks of the model on each stage of pp (default: 1)")
          ->check(positive);
  CLI::Option *layers =
      sub->add_option("--stages", options.stages,
                      "Layers of each chunk of pp in order, e.g. 3,3,4,2 "
                      "(default: equal flops)")
          ->delimiter(',')
          ->check(positive);
  return {schedule, chunks, layers};
}

std::string tessera::checkPipeline(DriverOptions &options, const Mesh &mesh,
                                   const std::string &given) {
  int64_t stages = 1;
  for (const auto &[axis, size] : mesh.axes)
    stages = axis == kPipelineAxis ? size : stages;
  if (stages == 1)
    return given.empty()
               ? ""
               : given + " is about pipeline stages, but the mesh has "
                         "none; give it an axis pp, e.g. pp=2";
  if (options.schedule.empty())
    options.schedule = options.virtualStages > 1 ? "interleaved" : "1f1b";
  pipeline::Shape shape{stages, options.virtualStages, 1};
  std::optional<pipeline::Kind> kind = pipeline::kindFromName(options.schedule);
  return kind ? pipeline::checkShape(*kind, shape) : "";
}
