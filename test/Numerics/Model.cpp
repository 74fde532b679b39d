//===- Model.cpp - a model of a test, compiled ----------------------------===//

#include "test/Numerics/Model.h"
#include "mlir/IR/MLIRContext.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

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

std::string tessera::test::compileModel(const std::string &configPath,
                                        const Build &build) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  ImportOptions import;
  import.batch = build.batch;
  import.microBatches = build.microBatches;
  import.sequence = build.sequence;
  import.target = build.target;
  // Mixed precision starts from an f32 program.
  import.elementType = build.precision == "bf16" ? "f32" : build.precision;
  auto module = importModel(&context, configPath, import);
  if (failed(module)) {
    ADD_FAILURE() << configPath << " cannot be imported";
    return "";
  }
  CompileOptions compile;
  compile.mesh = build.mesh;
  compile.precision = build.precision;
  compile.microBatches = build.microBatches;
  compile.sequenceParallel = build.sequenceParallel;
  compile.zero = build.zero;
  compile.layoutInvariant = build.layoutInvariant;
  compile.dpSync = build.dpSync;
  compile.contextParallel = build.contextParallel;
  compile.schedule = build.schedule;
  compile.virtualStages = build.virtualStages;
  compile.clip = build.clip;
  compile.keepValues = build.keepValues;
  compile.bucketBytes = build.bucketBytes;
  compile.overlap = build.overlap;
  compile.recompute = build.recompute;
  compile.recomputeLayers = build.recomputeLayers;
  compile.emulateGrid = build.emulateGrid;
  compile.device = build.device;
  std::string path = scratchPath("model.tsr");
  if (succeeded(compileToArtifact(**module, compile, path)))
    return path;
  ADD_FAILURE() << configPath << " cannot be compiled for mesh '" << build.mesh
                << "' in " << build.precision;
  return "";
}
