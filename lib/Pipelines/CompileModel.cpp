//===- CompileModel.cpp - from a model to an artifact ---------------------===//

#include "tessera/Pipelines/CompileModel.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"

using namespace mlir;
using namespace tessera;

ImportOptions tessera::importOptions(const PlannedModel &options,
                                     Choices choices) {
  const PlanOptions &plan = options.plan;
  ImportOptions import;
  import.sizes = plan.sizes;
  import.precision = plan.precision;
  import.forEncoding = encodes(plan.programs);
  import.forGeneration = generates(plan.programs);
  import.batchRanks = plan.mesh.lanes();
  if (plan.programs == ProgramSet::Generate) {
    import.sizes.sequence = plan.generation.length;
    if (!options.isProgram()) // It has its own, which generation leaves out.
      import.sizes.batch = import.batchRanks;
    return import;
  }
  import.explains = choices == Choices::Said && options.isFirstProcess;
  return import;
}

/// A number that the model says about itself.
static int64_t sizeOf(ModuleOp module, StringRef name, int64_t otherwise) {
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  auto size = model.getAs<IntegerAttr>(name);
  return size ? size.getInt() : otherwise;
}

PlanOptions tessera::planOf(const PlannedModel &options, ModuleOp module) {
  PlanOptions plan = options.plan;
  plan.sizes.microBatches = sizeOf(module, "micro_batches", 1);
  return plan;
}

static DataSizes dataSizesOf(ModuleOp module) {
  DataSizes sizes = {sizeOf(module, "sequence", 0), sizeOf(module, "target", 0),
                     sizeOf(module, "vocabulary", 0)};
  sizes.isMasked = sizeOf(module, "mask_token", -1) >= 0;
  auto model = module->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (auto ids = model.getAs<DenseI64ArrayAttr>("special_tokens"))
    sizes.special = ids.asArrayRef().vec();
  return sizes;
}

LogicalResult tessera::compileModel(MLIRContext &context,
                                    const PlannedModel &options,
                                    const std::string &path,
                                    const SizeCheck &check) {
  auto module = importModel(&context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return failure();
  if (check && failed(check(dataSizesOf(**module))))
    return failure();
  return compileToArtifact(**module, planOf(options, **module), path);
}

FailureOr<std::string> tessera::describeModel(MLIRContext &context,
                                              const PlannedModel &options,
                                              const PassObserver &observer) {
  auto module = importModel(&context, options.model,
                            importOptions(options, Choices::Said));
  if (failed(module))
    return failure();
  return compileToMetadata(**module, planOf(options, **module), {observer});
}
