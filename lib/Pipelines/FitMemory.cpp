//===- FitMemory.cpp - plans that fit into the memory of a rank -----------===//
// The memory plan is exact, so what fits is found by making plans.
//===----------------------------------------------------------------------===//

#include "tessera/Pipelines/FitMemory.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Pipelines/Pipeline.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

namespace {

/// A way to recompute and the arena that it needs.
struct Candidate {
  Recompute mode = Recompute::None;
  int64_t layers = -1; ///< Layers that recompute in full; -1: all.
  int64_t bytes = 0;
};

class Search {
public:
  Search(ModuleOp module, const PlanOptions &options)
      : module(module), options(options) {}

  /// Finds the bytes that a candidate needs.
  LogicalResult measure(Candidate &candidate);
  /// Returns the fitting candidate that repeats least, or the smallest of all.
  FailureOr<Candidate> find(int64_t limit);

private:
  FailureOr<Candidate> findLayers(int64_t limit, Candidate best);

  ModuleOp module;
  PlanOptions options;
};

std::string bytesText(int64_t bytes) {
  return llvm::formatv("{0} bytes ({1:f1} MiB)", bytes,
                       static_cast<double>(bytes) / (1 << 20));
}

std::string describe(const Candidate &candidate) {
  std::string text = std::string("--recompute ") + nameOf(candidate.mode);
  if (candidate.mode == Recompute::Full && candidate.layers >= 0)
    text += " --recompute-layers " + std::to_string(candidate.layers);
  return text;
}

LogicalResult Search::measure(Candidate &candidate) {
  options.memory.recompute = candidate.mode;
  options.memory.recomputeLayers = candidate.layers;
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext(), module.getOperationName());
  manager.enableVerifier(false);
  auto refuse = [&](const Twine &why) { return module.emitError(why); };
  if (failed(buildDistributePipeline(manager, options, refuse)) ||
      failed(buildLowerPipeline(manager, options, refuse)) ||
      failed(buildCommunicatePipeline(manager, options, refuse)) ||
      failed(buildMemoryPipeline(manager, options, refuse)) ||
      failed(manager.run(*copy)))
    return failure();
  FailureOr<SmallVector<func::FuncOp>> programs = nn::findPrograms(*copy);
  if (failed(programs))
    return failure();
  candidate.bytes = 0;
  for (func::FuncOp step : *programs) {
    Operation *owner = rt::arenaOwner(step);
    auto arena = owner->getAttrOfType<IntegerAttr>(rt::RTDialect::kArenaAttr);
    candidate.bytes = std::max(candidate.bytes, arena.getInt());
  }
  return success();
}

/// Returns the least number of layers, given one that fits and that 0 does not.
FailureOr<Candidate> Search::findLayers(int64_t limit, Candidate best) {
  int64_t tooFew = 0;
  while (best.layers - tooFew > 1) {
    Candidate middle = {Recompute::Full, (tooFew + best.layers) / 2};
    if (failed(measure(middle)))
      return failure();
    if (middle.bytes <= limit)
      best = middle;
    else
      tooFew = middle.layers;
  }
  return best;
}

FailureOr<Candidate> Search::find(int64_t limit) {
  FailureOr<func::FuncOp> loss = nn::findProgram(module, "loss");
  if (failed(loss))
    return failure();
  Candidate none, selective = {Recompute::Selective};
  if (failed(measure(none)))
    return failure();
  if (none.bytes <= limit)
    return none;
  if (failed(measure(selective)))
    return failure();
  Candidate smallest = selective.bytes < none.bytes ? selective : none;
  if (smallest.bytes <= limit)
    return smallest;
  Candidate full = {Recompute::Full,
                    static_cast<int64_t>(layersOf(*loss).size())};
  if (full.layers == 0)
    return smallest;
  if (failed(measure(full)))
    return failure();
  // The last layer's activations are needed at once: where they are larger than
  // the logits, repeating it only adds to them.
  Candidate butOne = {Recompute::Full, full.layers - 1};
  if (full.bytes > limit && butOne.layers > 0) {
    if (failed(measure(butOne)))
      return failure();
    full = butOne.bytes < full.bytes ? butOne : full;
  }
  if (full.bytes <= limit)
    return findLayers(limit, full);
  return full.bytes < smallest.bytes ? full : smallest;
}

} // namespace

LogicalResult tessera::fitMemory(ModuleOp module, PlanOptions &plan) {
  MemoryOptions &memory = plan.memory;
  bool isAuto = memory.recompute == Recompute::Auto;
  if (std::string why = checkPlan(plan); !why.empty())
    return module.emitError() << why;
  if (memory.limit == 0)
    return success();
  Search search(module, plan);
  Candidate given = {memory.recompute, memory.recomputeLayers};
  if (!isAuto && failed(search.measure(given)))
    return failure();
  if (!isAuto && given.bytes <= memory.limit)
    return success();
  FailureOr<Candidate> found = search.find(memory.limit);
  if (failed(found))
    return failure();
  bool fits = found->bytes <= memory.limit;
  std::string limit = bytesText(memory.limit);
  if (!fits)
    return module.emitError()
           << "the smallest plan (" << describe(*found) << ") needs "
           << bytesText(found->bytes) << " on each rank, --memory-limit is "
           << limit << "; use more micro-batches or a larger mesh";
  if (!isAuto)
    return module.emitError()
           << "the plan needs " << bytesText(given.bytes)
           << " on each rank, --memory-limit is " << limit << "; "
           << describe(*found) << " needs " << bytesText(found->bytes);
  memory.recompute = found->mode;
  memory.recomputeLayers = found->layers;
  return success();
}
