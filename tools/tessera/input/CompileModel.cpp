//===- CompileModel.cpp - from a model to an artifact ---------------------===//

#include "tools/tessera/input/CompileModel.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "tools/tessera/input/CompilerContext.h"

using namespace mlir;
using namespace tessera;

ImportOptions tessera::importOptions(const DriverOptions &options,
                                     Choices choices) {
  const PlanOptions &plan = options.plan;
  ImportOptions import;
  import.sizes = plan.sizes;
  import.precision = plan.precision;
  import.batchRanks =
      plan.mesh.sizeOf(MeshAxis::Data) * plan.mesh.sizeOf(MeshAxis::Expert);
  import.explains = choices == Choices::Said && options.launch.rank == 0;
  return import;
}

PlanOptions tessera::planOf(const DriverOptions &options, ModuleOp module) {
  PlanOptions plan = options.plan;
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto count = model.getAs<IntegerAttr>("micro_batches");
  plan.sizes.microBatches = count ? count.getInt() : 1;
  return plan;
}

bool tessera::compileModel(const DriverOptions &options,
                           const std::string &path) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  CompilerContext compiler(registry);
  auto module = importModel(&compiler.context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return false;
  return succeeded(
      compileToArtifact(**module, planOf(options, **module), path));
}
