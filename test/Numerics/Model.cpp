//===- Model.cpp - a model of a test, compiled ----------------------------===//

#include "test/Numerics/Model.h"
#include "mlir/IR/MLIRContext.h"
#include "tessera/Import/Import.h"
#include "tessera/Options/PlanFlags.h"
#include "tessera/Pipelines/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <tuple>

using namespace tessera;
using namespace tessera::test;

namespace {

class ScratchDirectory {
public:
  ScratchDirectory() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("numerics", path));
  }
  ~ScratchDirectory() { llvm::sys::fs::remove_directories(path); }

  llvm::SmallString<128> path;
};

} // namespace

std::string tessera::test::scratchPath(const std::string &name) {
  static ScratchDirectory scratch;
  static int count = 0;
  return (scratch.path + "/" + std::to_string(count++) + "-" + name).str();
}

std::string tessera::test::scratchFile(const std::string &name,
                                       const std::string &text) {
  std::string path = scratchPath(name);
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  EXPECT_FALSE(error) << path << ": " << error.message();
  file << text;
  return path;
}

std::string tessera::test::smallModelWithDropout(int64_t vocabulary) {
  return scratchFile("config.json",
                     R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4,
                         "n_embd": 32, "n_positions": 16, "resid_pdrop": 0.1,
                         "embd_pdrop": 0.1, "attn_pdrop": 0.1,
                         "vocab_size": )" +
                         std::to_string(vocabulary) + "}");
}

static PlanOptions planOf(const Build &build) {
  PlanOptions plan;
  for (auto [flag, text] :
       {std::pair<const char *, std::string>{"mesh", build.mesh},
        {"precision", build.precision},
        {"zero", std::to_string(build.zero)},
        {"dp-sync", build.dpSync},
        {"context-parallel", build.contextParallel},
        {"schedule", build.schedule},
        {"recompute", build.recompute},
        {"lora", build.lora},
        {"device", build.device}})
    EXPECT_EQ(setFlag(plan, flag, text), "");
  for (const auto &[flag, text] : build.flags)
    EXPECT_EQ(setFlag(plan, flag, text), "");
  if (!build.freeze.empty()) {
    EXPECT_EQ(setFlag(plan, "freeze", build.freeze), "");
  }
  plan.evaluation = build.evaluation;
  plan.sizes.microBatches = build.microBatches;
  plan.strategies.sequenceParallel = build.sequenceParallel;
  plan.strategies.layoutInvariant = build.layoutInvariant;
  plan.stages.virtualStages = build.virtualStages;
  plan.optimizer.clip = build.clip;
  plan.debugging.keepValues = build.keepValues;
  plan.debugging.decomposeLayers = build.decomposesLayers;
  plan.debugging.optimizeCode = build.precision == "bf16";
  plan.communication.bucketBytes = build.bucketBytes;
  plan.communication.overlap = build.overlap;
  plan.memory.recomputeLayers = build.recomputeLayers;
  plan.device.emulateGrid = build.emulateGrid;
  if (build.generates)
    plan.programs = ProgramSet::Generate;
  if (generates(plan.programs)) {
    plan.generation.batch = build.maxBatch;
    plan.generation.chunk = build.prefillChunk;
  }
  return plan;
}

/// Returns the path of a new artifact, or "".
static std::string compileAnew(const std::string &configPath,
                               const Build &build) {
  ::setenv("TESSERA_LINKER", TEST_LINKER, /*replace=*/0);
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  PlanOptions plan = planOf(build);
  ImportOptions import;
  import.sizes = {build.sequence, build.target, build.batch, build.microBatches,
                  build.ignoresLabels};
  import.sizes.documentMask = build.documentMask;
  import.sizes.paddingMask = build.paddingMask;
  import.precision = plan.precision;
  import.forGeneration = build.generates;
  auto module = importModel(&context, configPath, import);
  if (failed(module)) {
    ADD_FAILURE() << configPath << " cannot be imported";
    return "";
  }
  std::string path = scratchPath("model.tsr");
  if (succeeded(compileToArtifact(**module, plan, path)))
    return path;
  ADD_FAILURE() << configPath << " cannot be compiled for mesh '" << build.mesh
                << "' in " << build.precision;
  return "";
}

/// Returns all fields: one that is added does not compile before it is here.
static auto fieldsOf(const Build &build) {
  const auto &[mesh, sequenceParallel, zero, contextParallel, dpSync, schedule,
               virtualStages, precision, batch, microBatches, sequence, target,
               ignoresLabels, documentMask, paddingMask, clip, keepValues,
               decomposesLayers, evaluation, bucketBytes, overlap, recompute,
               recomputeLayers, layoutInvariant, emulateGrid, device, generates,
               maxBatch, prefillChunk, lora, freeze, flags] = build;
  return std::make_tuple(
      mesh, sequenceParallel, zero, contextParallel, dpSync, schedule,
      virtualStages, precision, batch, microBatches, sequence, target,
      ignoresLabels, documentMask, paddingMask, clip, keepValues,
      decomposesLayers, evaluation, bucketBytes, overlap, recompute,
      recomputeLayers, layoutInvariant, emulateGrid, device, generates,
      maxBatch, prefillChunk, lora, freeze, flags);
}

std::string tessera::test::compileModel(const std::string &configPath,
                                        const Build &build) {
  using Key = std::pair<std::string, decltype(fieldsOf(build))>;
  static std::map<Key, std::string> artifacts;
  auto config = llvm::MemoryBuffer::getFile(configPath);
  if (!config)
    return compileAnew(configPath, build);
  Key key = {(*config)->getBuffer().str(), fieldsOf(build)};
  auto [known, isNew] = artifacts.try_emplace(std::move(key));
  if (isNew)
    known->second = compileAnew(configPath, build);
  return known->second;
}
