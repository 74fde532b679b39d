//===- PlanTarget.cpp - a plan that is a file -----------------------------===//
#include "test/Fuzz/Input.h"

#include "tessera/Options/PlanFlags.h"
#include "tessera/Plan/PlanFile.h"
#include "llvm/ADT/StringRef.h"

using namespace tessera;
using namespace fuzzed;

/// Returns what a plan says of all flags, for comparison.
static std::string textOf(const PlanOptions &plan) {
  std::string text;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  text += #NAME "=" + flagText(FlagCheck::CHECK, plan.FIELD) + "\n";
#define DRIVER_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
  return text;
}

/// Sets all options that are accepted.
static PlanOptions planOf(const plan::PlanFile &file) {
  PlanOptions plan;
  for (const auto &[name, text] : file.options)
    (void)setPlannedFlag(plan, name, text);
  return plan;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryFile file({reinterpret_cast<const char *>(data), size});
  plan::PlanFile read, again;
  // The same bytes as a plan of their own and as a configuration.
  (void)plan::checkModel(read, "plan.json", file.path());
  std::string why = plan::readPlan(file.path(), read);
  if (!why.empty()) {
    require(why.find(file.path()) != std::string::npos,
            "a refusal names the file");
    return 0;
  }
  PlanOptions plan = planOf(read);
  require(plan.debugging.dumpDirectory.empty() &&
              plan.debugging.reproducer.empty(),
          "no plan names a path");
  MemoryFile written(read.json());
  require(plan::readPlan(written.path(), again).empty(),
          "what is written is read");
  require(read.options == again.options &&
              read.model.str() == again.model.str() &&
              textOf(plan) == textOf(planOf(again)),
          "a plan says the same when it is written again");
  return 0;
}
