//===- CheckProgram.cpp - does metadata contradict itself? ----------------===//

#include "lib/Program/CheckProgram.h"
#include "tessera/Options/PlanOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

template <typename... Args>
static Error refuse(const char *what, Args... args) {
  return createStringError(formatv(what, args...).str());
}

/// Checks a word that is fixed; "" stands for one that is absent.
template <typename Enum>
static Error checkWord(const char *key, const std::string &word) {
  if (word.empty() || fromName<Enum>(word))
    return Error::success();
  return refuse("'{0}' is '{1}', must be one of {2}", key, word,
                listNames<Enum>("or", "'"));
}

static Error checkMesh(const Mesh &mesh) {
  std::set<StringRef> names;
  for (const Axis &axis : mesh)
    if (!names.insert(axis.name).second)
      return refuse("'mesh' repeats axis '{0}'", axis.name);
  return Error::success();
}

/// The arena and the work of each stage are listed in its order.
static Error checkStages(const Program &program, size_t stages) {
  for (auto [key, count] :
       {std::pair("arena.stages", program.arena.stages.size()),
        std::pair("report.stages", program.totals.stages.size())})
    if (count != stages)
      return refuse("'{0}' has {1} entries for {2} stages", key, count, stages);
  return Error::success();
}

static Error checkChunks(const Pipeline &pipeline) {
  auto chunks = static_cast<int64_t>(pipeline.chunks.size());
  if (pipeline.virtualStages < 1 ||
      chunks != pipeline.stages * pipeline.virtualStages)
    return refuse("'pipeline' has {0} chunks for {1} stages of {2}", chunks,
                  pipeline.stages, pipeline.virtualStages);
  for (const Chunk &chunk : pipeline.chunks)
    if (chunk.stage >= pipeline.stages)
      return refuse("'pipeline' has a chunk on stage {0} of {1}", chunk.stage,
                    pipeline.stages);
  return Error::success();
}

static Error checkPipeline(const Program &program, const Pipeline &pipeline) {
  int64_t stages = program.stages();
  if (Error error = checkStages(program, stages))
    return error;
  if (pipeline.hasOwners)
    return stages > 1 ? Error::success()
                      : refuse("'pipeline' has one owner of all parameters; "
                               "there must be more");
  if (pipeline.stages != stages)
    return refuse("'pipeline' has {0} stages, axis '{1}' has {2}",
                  pipeline.stages, pipeline.axis, stages);
  if (program.trains() && pipeline.microBatches != program.model.microBatches)
    return refuse("'pipeline' has {0} micro-batches, 'model' has {1}",
                  pipeline.microBatches, program.model.microBatches);
  if (Error error = checkChunks(pipeline))
    return error;
  if (pipeline.tasks && !pipeline.stageTasks())
    return refuse("'pipeline' has tasks whose calls or runs do not fit");
  return checkWord<ScheduleKind>("pipeline.schedule", pipeline.schedule);
}

Error program::checkProgram(const Program &program) {
  if (Error error = checkMesh(program.mesh))
    return error;
  if (Error error = checkWord<Precision>("precision", program.precision))
    return error;
  if (Error error =
          checkWord<DeviceKind>("target.device", program.target.device))
    return error;
  if (program.recompute)
    if (Error error =
            checkWord<Recompute>("recompute.mode", program.recompute->mode))
      return error;
  return program.pipeline ? checkPipeline(program, *program.pipeline)
                          : Error::success();
}
