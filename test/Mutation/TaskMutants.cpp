//===- TaskMutants.cpp - changes of when a stage runs what, and where -----===//

#include "mlir/IR/Builders.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "test/Mutation/Mutant.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

/// Entry `k` of the order of a stage runs after the next one.
static void swapEntries(ModuleOp module, unsigned stage, unsigned k) {
  func::FuncOp step = programsOf(module)[stage];
  SmallVector<rt::NumberedTask> order = rt::orderOf(step);
  std::swap(order[k], order[k + 1]);
  rt::setOrder(step, order);
}

/// Runs a task of another micro-batch than that whose turn it is.
static void takeOther(ModuleOp module, unsigned stage, unsigned k) {
  func::FuncOp step = programsOf(module)[stage];
  SmallVector<rt::NumberedTask> order = rt::orderOf(step);
  order[k].microBatch += order[k].microBatch == 0 ? 1 : -1;
  rt::setOrder(step, order);
}

Mutants test::orderMutants(ModuleOp lowered) {
  Mutants mutants;
  for (auto [stage, step] : llvm::enumerate(programsOf(lowered))) {
    SmallVector<rt::NumberedTask> order = rt::orderOf(step);
    unsigned number = stage;
    for (unsigned k = 0; k < order.size(); ++k) {
      std::string what =
          llvm::formatv("entry {0} of stage {1}", k, number).str();
      mutants.push_back({Stage::Lowered, "task for another micro-batch", what,
                         "", "", true,
                         [=](ModuleOp m) { takeOther(m, number, k); }});
      if (k + 1 < order.size())
        mutants.push_back({Stage::Lowered, "tasks in another order", what, "",
                           kTasksAreFree, true,
                           [=](ModuleOp m) { swapEntries(m, number, k); }});
    }
  }
  return mutants;
}

/// Moves a frame to where that of another micro-batch lies.
static void moveFrame(ModuleOp module, unsigned stage, unsigned frame,
                      unsigned from, unsigned to) {
  func::FuncOp step = programsOf(module)[stage];
  Builder builder(module.getContext());
  SmallVector<Attribute> frames(
      step->getAttrOfType<ArrayAttr>(rt::RTDialect::kFramesAttr).getValue());
  SmallVector<int64_t> offsets(rt::frameOffsets(step, frame + 1));
  offsets[from] = offsets[to];
  frames[frame] = builder.getDenseI64ArrayAttr(offsets);
  step->setAttr(rt::RTDialect::kFramesAttr, builder.getArrayAttr(frames));
}

Mutants test::frameMutants(ModuleOp planned) {
  Mutants mutants;
  for (auto [number, step] : llvm::enumerate(programsOf(planned))) {
    unsigned stage = number;
    for (unsigned frame = 0; frame < rt::countFrames(step); ++frame) {
      ArrayRef<int64_t> offsets = rt::frameOffsets(step, frame + 1);
      for (unsigned k = 0; k + 1 < offsets.size(); ++k)
        if (offsets[k] != offsets[k + 1])
          mutants.push_back(
              {Stage::Planned, "frame in another's place",
               llvm::formatv("frame {0} of micro-batch {1} of stage {2}",
                             frame + 1, k, stage)
                   .str(),
               "", kPlaceIsFree, true,
               [=](ModuleOp m) { moveFrame(m, stage, frame, k, k + 1); }});
    }
  }
  return mutants;
}
