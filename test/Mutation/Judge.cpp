//===- Judge.cpp - what catches a mutant ----------------------------------===//

#include "test/Mutation/Judge.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Distribute/Erasure.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

// Sums in another order, in f64, through 2 layers and 2 steps: 1e-13 is
// measured. The least wrong mutant counts a small gradient twice in the norm:
// 2e-6 is measured.
static constexpr double kRight = 1e-10, kWrong = 1e-7;

bool Judge::start(KernelObjects &kernels, const std::string &prefix) {
  scratch = prefix;
  std::string path = scratch + "serial.tsr";
  if (!programs.build(kernels, path))
    return false;
  auto outcome = train(path, isMasked);
  llvm::sys::fs::remove(path);
  if (!outcome)
    return false;
  wanted = std::move(*outcome);
  loweredText = Programs::text(programs.at(Stage::Lowered));
  return true;
}

Verdict Judge::refusal() const {
  bool isDeadlock = StringRef(programs.error()).starts_with("ranks wait");
  return {isDeadlock ? Fate::Messages : Fate::Passes};
}

Verdict Judge::run(ModuleOp module, Stage stage) {
  if (stage < Stage::Lowered) {
    if (!programs.advance(module, stage, Stage::Lowered))
      return refusal();
    if (Programs::text(module) == loweredText)
      return {Fate::Same};
  }
  if (stage < Stage::Planned &&
      !programs.advance(module, Stage::Lowered, Stage::Planned))
    return refusal();
  if (stage == Stage::Planned && !programs.check(module))
    return refusal();
  std::string path = scratch + "mutant.tsr";
  if (!programs.compile(module, path))
    return refusal();
  auto found = train(path, isMasked);
  llvm::sys::fs::remove(path);
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

Verdict Judge::judge(const Mutant &mutant) {
  OwningOpRef<ModuleOp> copy = programs.at(mutant.stage).clone();
  mutant.apply(*copy);
  if (mutant.stage == Stage::Typed) {
    if (failed(mutant.retypes ? retypeAll(*copy) : verify(*copy)))
      return {Fate::Types};
    for (StringRef name : {StringRef("step"), StringRef(nn::kEvaluationName)})
      if (!compareErased(*copy, programs.serialStep(), name).empty())
        return {Fate::Erasure};
  }
  if (failed(verify(*copy)))
    return {Fate::Types};
  return run(*copy, mutant.stage);
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
