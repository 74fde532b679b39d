//===- IgnoredFlags.cpp - flags that a plan would ignore ------------------===//
// A row for each purpose of a flag that a plan may not have.
//===----------------------------------------------------------------------===//

#include "lib/Options/RuleText.h"
#include "tessera/Options/PlanRules.h"

using namespace tessera;

namespace {

using Plan = const PlanOptions &;

struct IgnoredFlag {
  FlagPurpose purpose;
  bool (*isIgnored)(Plan);
  const char *why, *instead;
  /// Allows the flags with their default values, "--zero 0".
  bool allowsDefaults = false;
};

bool trainsAlone(Plan plan) { return plan.programs == ProgramSet::Train; }
bool continuesAlone(Plan plan) { return plan.programs == ProgramSet::Generate; }
bool encodesTexts(Plan plan) { return encodes(plan.programs); }
bool encodesNothing(Plan plan) { return !encodes(plan.programs); }
bool trainsNothing(Plan plan) { return !trains(plan.programs); }
bool trainsSomething(Plan plan) { return trains(plan.programs); }
bool continuesSome(Plan plan) { return generates(plan.programs); }
bool trainsBesideOthers(Plan plan) {
  return plan.programs == ProgramSet::TrainAndGenerate;
}
bool evaluatesNothing(Plan plan) {
  return !trains(plan.programs) && plan.evaluation;
}
bool hasOneStage(Plan plan) {
  return plan.mesh.sizeOf(MeshAxis::Pipeline) == 1;
}
bool hasNoGpu(Plan plan) { return !plan.device.hasCudaKernels(); }

constexpr char kTraining[] = "is about training";
constexpr char kGeneration[] = "is about generation";
constexpr char kTrainingAlone[] = "is about training alone";
constexpr char kCompileTwo[] =
    "leave it out with --programs train,generate, or compile two artifacts";
constexpr char kSequences[] =
    "with --programs encode use --batch and --seq-length";
constexpr char kGenerateToo[] = "give --programs generate, too";
constexpr char kLeaveOut[] = "leave it out with --programs {programs}";

const IgnoredFlag kIgnoredFlags[] = {
    {FlagPurpose::Optimizer, trainsNothing, kTraining, kLeaveOut},
    {FlagPurpose::LearningRate, trainsNothing, kTraining, kLeaveOut},
    {FlagPurpose::Sequences, continuesAlone, kTraining,
     "with --programs generate use --max-length and --max-batch"},
    {FlagPurpose::Parameters, trainsNothing, kTraining, kLeaveOut},
    {FlagPurpose::Loss, trainsNothing, kTraining, kLeaveOut},
    {FlagPurpose::Gradients, trainsNothing, kTraining, kLeaveOut},
    {FlagPurpose::Evaluation, evaluatesNothing, kTraining, kLeaveOut},
    {FlagPurpose::Masks, continuesAlone, kTraining, kLeaveOut},
    {FlagPurpose::Masks, trainsBesideOthers, kTrainingAlone, kCompileTwo},
    {FlagPurpose::Documents, continuesAlone, kTraining, kLeaveOut},
    {FlagPurpose::Documents, trainsBesideOthers, kTrainingAlone, kCompileTwo},
    {FlagPurpose::Documents, encodesTexts,
     "is about causal models, which --programs encode does not run",
     "leave it out, or use --padding-mask"},
    {FlagPurpose::Generation, encodesTexts, kGeneration, kSequences},
    {FlagPurpose::Generation, trainsAlone, kGeneration, kGenerateToo},
    {FlagPurpose::RequestLength, encodesTexts, kGeneration, kSequences},
    {FlagPurpose::RequestLength, trainsAlone, kGeneration, kGenerateToo},
    {FlagPurpose::RequestLength, trainsBesideOthers,
     "is about generation alone: with --programs train,generate a request has "
     "as many tokens as a sequence",
     "give --seq-length alone"},
    {FlagPurpose::Decoder, encodesTexts,
     "is about a decoder, which --programs encode leaves out", "leave it out"},
    {FlagPurpose::Encoding, encodesNothing, "is about encoding",
     "give --programs encode, too"},
    {FlagPurpose::Inference, trainsSomething,
     "is about programs that do not train",
     "give --programs generate or encode, or leave it out"},
    {FlagPurpose::SequenceSplit, continuesSome,
     "is about sequences, but --programs {programs} splits caches on 'cp'",
     "leave it out", /*allowsDefaults=*/true},
    {FlagPurpose::Stages, hasOneStage,
     "is about pipeline stages, but the mesh has none",
     "give it an axis pp, e.g. pp=2"},
    {FlagPurpose::Cuda, hasNoGpu, "needs --device cuda",
     "on the CPU kernels do it"},
    {FlagPurpose::Step, trainsNothing, kTraining, kLeaveOut,
     /*allowsDefaults=*/true},
    {FlagPurpose::Recomputation, trainsNothing, kTraining, kLeaveOut,
     /*allowsDefaults=*/true},
};

} // namespace

std::string tessera::checkGiven(const PlanOptions &plan,
                                const GivenFlags &given) {
  const GivenFlags changed = changedFlags(plan);
  for (const IgnoredFlag &row : kIgnoredFlags) {
    if (!row.isIgnored(plan))
      continue;
    for (const PlanFlag &flag : planFlags())
      if (flag.purpose == row.purpose &&
          (row.allowsDefaults ? changed : given).count(flag.name))
        return RuleText{flag.name, row.why, row.instead}.str(plan);
  }
  return "";
}

bool tessera::isUsedBy(FlagPurpose purpose, ProgramSet programs) {
  PlanOptions plan; // with everything else that a flag may be about
  plan.programs = programs;
  plan.mesh.axes = {{MeshAxis::Pipeline, 2}};
  plan.device.target.kind = DeviceKind::Cuda;
  for (const IgnoredFlag &row : kIgnoredFlags)
    if (row.purpose == purpose && row.isIgnored(plan))
      return false;
  return true;
}
