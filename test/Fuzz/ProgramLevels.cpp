#include "test/Fuzz/ProgramLevels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"

#include <iostream>
#include <set>

using namespace mlir;

namespace tessera::test {

namespace {

/// Longer programs would take the time of many short ones.
constexpr size_t kLongestProgram = 256 << 10;

/// A model of the examples, and how it is compiled.
struct Model {
  const char *example, *pipeline;
  int64_t microBatches = 1;
};

const Model kModels[] = {
    {"gpt2-tiny", "tessera-compile{mesh=dp=2,tp=2 zero=1 sequence-parallel}"},
    {"gpt2-tiny", "tessera-compile{mesh=pp=2,dp=2 micro-batches=2}", 2},
    {"gpt2-tiny", "tessera-compile{mesh=dp=2 dp-sync=parameter-server}"},
    {"gpt2-tiny", "tessera-compile{lora=r=2,alpha=4,targets=c_attn}"},
    {"gpt2-tiny", "tessera-compile{mesh=tp=2 layout-invariant=4}"},
    {"llama-tiny", "tessera-compile{mesh=cp=2 context-parallel=ring}"},
    {"llama-tiny",
     "tessera-compile{programs=generate weights=int8 max-batch=2}"},
    {"llama-tiny",
     "tessera-compile{device=cuda precision=bf16 "
     "recompute=full micro-batches=2}",
     2},
    {"mixtral-tiny", "tessera-compile{mesh=ep=2 evaluation}"},
    {"bert-tiny", "tessera-compile{programs=encode mesh=tp=2}"},
    {"t5-tiny", "tessera-compile{programs=generate max-batch=2}"},
};

std::string genericForm(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().printGenericOpForm());
  return text + "\n";
}

/// Keeps what each pass gets.
class KeepPrograms : public PassInstrumentation {
public:
  KeepPrograms(const char *name, std::vector<ProgramText> &programs,
               std::set<std::string> &known)
      : name(name), programs(programs), known(known) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || pass->getArgument().empty())
      return;
    std::string text = genericForm(module), pipeline;
    llvm::raw_string_ostream stream(pipeline);
    pass->printAsTextualPipeline(stream);
    if (text.size() < kLongestProgram && known.insert(text).second)
      programs.push_back({name, text, {pipeline}});
  }

private:
  const char *name;
  std::vector<ProgramText> &programs;
  std::set<std::string> &known;
};

void registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerCompilerDialects(registry);
}

bool addLevels(MLIRContext &context, const std::string &examples,
               const Model &model, std::vector<ProgramText> &programs,
               std::set<std::string> &known) {
  ImportOptions options;
  options.sizes.microBatches = model.microBatches;
  options.sizes.sequence = 8;
  options.sizes.batch = 4;
  options.shrink = ShrinkOptions{/*layers=*/2, /*positions=*/8};
  StringRef pipeline(model.pipeline);
  options.forEncoding = pipeline.contains("programs=encode");
  options.forGeneration = pipeline.contains("programs=generate");
  FailureOr<OwningOpRef<ModuleOp>> module = importModel(
      &context, examples + "/" + model.example + "/config.json", options);
  PassManager manager(&context);
  if (failed(module) || failed(parsePassPipeline(pipeline, manager)))
    return false;
  manager.addInstrumentation(
      std::make_unique<KeepPrograms>(model.example, programs, known));
  return succeeded(manager.run(**module));
}

} // namespace

std::vector<ProgramText>
genericForms(const std::vector<ProgramText> &programs) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  std::vector<ProgramText> forms;
  for (const ProgramText &program : programs)
    if (auto module = parseSourceString<ModuleOp>(program.text, &context))
      forms.push_back({program.file, genericForm(*module), program.passes});
  return forms;
}

std::vector<ProgramText> programLevels(const std::string &examples) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::vector<ProgramText> programs;
  std::set<std::string> known;
  for (const Model &model : kModels)
    if (!addLevels(context, examples, model, programs, known)) {
      std::cerr << "error: '" << model.pipeline << "' does not compile '"
                << examples << "/" << model.example << "'\n";
      return {};
    }
  return programs;
}

} // namespace tessera::test
