//===- Judge.cpp - what catches a mutant ----------------------------------===//

#include "test/Mutation/Judge.h"
#include "lib/Verify/CompareGeneration.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Distribute/Erasure.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

// Sums in another order, in f64, through 2 layers and 2 steps: 1e-13 is
// measured. The least wrong mutants leave a gather of keys out of forward, but
// not of what backward computes again: 2e-8 is measured.
static constexpr double kRight = 1e-11, kWrong = 1e-9;
// A mutant whose ranks wait for each other ends soon.
static constexpr int64_t kTimeoutMs = 5000;

bool Judge::start() {
  if (!programs.buildTyped())
    return false;
  auto model = programs.serialStep()->getAttrOfType<DictionaryAttr>(
      nn::NNDialect::kModelAttr);
  isMasked = model.contains("mask_token");
  return true;
}

bool Judge::prepare() {
  std::string path = scratch + "serial.tsr";
  if (!programs.build(kernels, path))
    return false;
  bool isKnown = learnSerial(path);
  llvm::sys::fs::remove(path);
  loweredText = Programs::text(programs.at(Stage::Lowered));
  isPrepared = isKnown;
  return isKnown;
}

bool Judge::learnSerial(const std::string &path) {
  if (generates)
    return !llvm::errorToBool(
        runForward(programs.forward(), {}).moveInto(forward));
  auto outcome = train(path, isMasked);
  if (outcome)
    wanted = std::move(*outcome);
  return outcome.has_value();
}

Verdict Judge::refusal() const {
  bool isDeadlock = StringRef(programs.error()).starts_with("ranks wait");
  return {isDeadlock ? Fate::Messages : Fate::Passes};
}

std::optional<Verdict> Judge::lower(ModuleOp module, Stage stage) {
  if (!programs.advance(module, stage, Stage::Lowered))
    return refusal();
  if (loweredText.empty()) {
    OwningOpRef<ModuleOp> original = programs.at(Stage::Typed).clone();
    if (programs.advance(*original, Stage::Typed, Stage::Lowered))
      loweredText = Programs::text(*original);
  }
  if (Programs::text(module) == loweredText)
    return Verdict{Fate::Same};
  return std::nullopt;
}

Verdict Judge::run(ModuleOp module, Stage stage) {
  if (stage < Stage::Planned &&
      !programs.advance(module, Stage::Lowered, Stage::Planned))
    return refusal();
  if (stage == Stage::Planned && !programs.check(module))
    return refusal();
  std::string path = scratch + "mutant.tsr";
  if (!programs.compile(module, path))
    return refusal();
  Verdict verdict = generates ? measureGeneration(path) : measure(path);
  llvm::sys::fs::remove(path);
  return verdict;
}

/// Measures as `tessera verify` does, up to the first position that differs.
Verdict Judge::measureGeneration(const std::string &path) const {
  NumericCheck check;
  llvm::Expected<NumericCheck> compared =
      compareGeneration(path, forward, {Precision::F64, kTimeoutMs});
  if (llvm::errorToBool(std::move(compared).moveInto(check)) ||
      std::isnan(check.worst))
    return {Fate::Numerics, INFINITY};
  return {check.difference.empty() ? Fate::Equal : Fate::Numerics, check.worst};
}

Verdict Judge::measure(const std::string &path) const {
  auto found = train(path, isMasked);
  if (!found)
    return {Fate::Numerics, INFINITY};
  double error = difference(*found, wanted);
  return {error <= kRight   ? Fate::Equal
          : error >= kWrong ? Fate::Numerics
                            : Fate::Unclear,
          error};
}

Verdict Judge::judgeOriginal() {
  OwningOpRef<ModuleOp> copy = programs.at(Stage::Planned).clone();
  return run(*copy, Stage::Planned);
}

static LogicalResult retypeAll(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(retype(func)))
      return failure();
  return success();
}

std::optional<Fate> Judge::refusalOf(ModuleOp typed, bool retypes) {
  if (failed(retypes ? retypeAll(typed) : verify(typed)))
    return Fate::Types;
  for (func::FuncOp program : programsOf(programs.serialStep()))
    if (!compareErased(typed, programs.serialStep(), program.getName()).empty())
      return Fate::Erasure;
  return std::nullopt;
}

std::optional<Fate> Judge::refusalOfOriginal() {
  OwningOpRef<ModuleOp> copy = programs.at(Stage::Typed).clone();
  return refusalOf(*copy, /*retypes=*/true);
}

Verdict Judge::judge(const Mutant &mutant) {
  OwningOpRef<ModuleOp> copy = programs.at(mutant.stage).clone();
  mutant.apply(*copy);
  if (mutant.stage == Stage::Typed)
    if (std::optional<Fate> fate = refusalOf(*copy, mutant.retypes))
      return {*fate};
  if (failed(verify(*copy)))
    return {Fate::Types};
  if (mutant.stage < Stage::Lowered)
    if (std::optional<Verdict> verdict = lower(*copy, mutant.stage))
      return *verdict;
  if (!isPrepared) // The program now gets the options of its metadata, too.
    return prepare() ? judge(mutant) : Verdict();
  return run(*copy, std::max(mutant.stage, Stage::Lowered));
}

bool Judge::readsFactors(StringRef opName) {
  OwningOpRef<ModuleOp> copy = programs.at(Stage::Localized).clone();
  copy->walk([&](Operation *op) {
    if (op->getName().getStringRef() == opName)
      op->removeAttr(rt::RTDialect::kFactorsAttr);
  });
  return !programs.advance(*copy, Stage::Localized, Stage::Lowered) ||
         Programs::text(*copy) != loweredText;
}
