//===- FitMemory.cpp - plans that fit into the memory of a rank -----------===//
// The memory plan is exact, so what fits is found by making plans.
//===----------------------------------------------------------------------===//

#include "lib/Pipelines/FitMemory.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Distribute/KeptValues.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

namespace {

/// A way to recompute and the arena that it needs.
struct Candidate {
  std::string mode;
  int64_t layers = -1; ///< Of "full"; -1: all.
  int64_t bytes = 0;
};

class Search {
public:
  Search(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  LogicalResult plan(Candidate &candidate);
  /// The fitting candidate that repeats least, or the smallest of all.
  FailureOr<Candidate> find(int64_t limit);

private:
  FailureOr<Candidate> findLayers(int64_t limit, Candidate best);

  ModuleOp module;
  CompileOptions options;
};

std::string bytesText(int64_t bytes) {
  return llvm::formatv("{0} bytes ({1:f1} MiB)", bytes,
                       static_cast<double>(bytes) / (1 << 20));
}

std::string describe(const Candidate &candidate) {
  std::string text = "--recompute " + candidate.mode;
  if (candidate.mode == "full" && candidate.layers >= 0)
    text += " --recompute-layers " + std::to_string(candidate.layers);
  return text;
}

LogicalResult Search::plan(Candidate &candidate) {
  options.recompute = candidate.mode;
  options.recomputeLayers = candidate.layers;
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext(), module.getOperationName());
  manager.enableVerifier(false);
  PipelineOptions passes;
  setOptions(passes, options);
  buildDistributePipeline(manager, passes);
  buildLowerPipeline(manager, passes);
  buildCommunicatePipeline(manager, passes);
  buildMemoryPipeline(manager, passes);
  if (failed(manager.run(*copy)))
    return failure();
  FailureOr<SmallVector<func::FuncOp>> steps = nn::findSteps(*copy);
  if (failed(steps))
    return failure();
  candidate.bytes = 0;
  for (func::FuncOp step : *steps) {
    Operation *owner = rt::arenaOwner(step);
    auto arena = owner->getAttrOfType<IntegerAttr>(rt::RTDialect::kArenaAttr);
    candidate.bytes = std::max(candidate.bytes, arena.getInt());
  }
  return success();
}

/// The least number of layers, given one that fits and that 0 does not.
FailureOr<Candidate> Search::findLayers(int64_t limit, Candidate best) {
  int64_t tooFew = 0;
  while (best.layers - tooFew > 1) {
    Candidate middle = {"full", (tooFew + best.layers) / 2};
    if (failed(plan(middle)))
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
  Candidate none = {"none"}, selective = {"selective"};
  if (failed(plan(none)))
    return failure();
  if (none.bytes <= limit)
    return none;
  if (failed(plan(selective)))
    return failure();
  Candidate smallest = selective.bytes < none.bytes ? selective : none;
  if (smallest.bytes <= limit)
    return smallest;
  Candidate full = {"full", static_cast<int64_t>(layersOf(*loss).size())};
  if (full.layers == 0)
    return smallest;
  if (failed(plan(full)))
    return failure();
  // The last layer's activations are needed at once: where they are larger than
  // the logits, repeating it only adds to them.
  Candidate butOne = {"full", full.layers - 1};
  if (full.bytes > limit && butOne.layers > 0) {
    if (failed(plan(butOne)))
      return failure();
    full = butOne.bytes < full.bytes ? butOne : full;
  }
  if (full.bytes <= limit)
    return findLayers(limit, full);
  return full.bytes < smallest.bytes ? full : smallest;
}

} // namespace

LogicalResult tessera::fitMemory(ModuleOp module, CompileOptions &options) {
  bool isAuto = options.recompute == "auto";
  if (options.memoryLimit == 0)
    return isAuto ? module.emitError() << "--recompute auto fits a plan into "
                                          "memory; say how much there is with "
                                          "--memory-limit"
                  : success();
  Search search(module, options);
  Candidate given = {options.recompute, options.recomputeLayers};
  if (!isAuto && failed(search.plan(given)))
    return failure();
  if (!isAuto && given.bytes <= options.memoryLimit)
    return success();
  FailureOr<Candidate> found = search.find(options.memoryLimit);
  if (failed(found))
    return failure();
  bool fits = found->bytes <= options.memoryLimit;
  std::string limit = bytesText(options.memoryLimit);
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
  options.recompute = found->mode;
  options.recomputeLayers = found->layers;
  return success();
}
