//===- Registration.cpp - dialects, passes and pipelines by name ----------===//

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Inference/Passes.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Memory/Passes.h"
#include "tessera/Model/Passes.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/Passes.h"
#include "tessera/Train/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tessera;

namespace {

/// The text of an option, checked as the driver checks its flag.
struct FlagParser : llvm::cl::parser<std::string> {
  using parser::parser;

  static bool parse(llvm::cl::Option &option, StringRef name, StringRef text,
                    std::string &value) {
    value = text.str();
    PlanOptions scratch;
    std::string why = setFlag(scratch, name.str(), value);
    return !why.empty() && option.error(why);
  }
};

/// PlanFlags.def as options of the named pipelines. Switches are bool, so that
/// they need no value; all else is text.
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  template <typename Field>
  using FlagOption =
      std::conditional_t<std::is_same_v<Field, bool>, Option<bool>,
                         Option<std::string, FlagParser>>;

#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  FlagOption<decltype(PlanOptions().FIELD)> NAME{                              \
      *this, dashed(#NAME), llvm::cl::desc(HELP),                              \
      llvm::cl::init(initial(FlagCheck::CHECK, PlanOptions().FIELD))};
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"

  /// Returns the flags that a text gave.
  GivenFlags given() const {
    GivenFlags names;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (NAME.hasValue())                                                         \
    names.insert(flagName(#NAME));
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
    return names;
  }

  PlanOptions plan() const {
    PlanOptions plan;
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  assign(plan.FIELD, FlagCheck::CHECK, NAME.getValue());
#define PASS_FLAG PLAN_FLAG
#include "tessera/Options/PlanFlags.def"
    completePlan(plan, given());
    return plan;
  }

private:
  static StringRef dashed(const char *name) {
    // Options keep a reference to their name, and there are several sets.
    static llvm::StringSet<> names;
    return names.insert(StringRef(flagName(name)).drop_front(2))
        .first->getKey();
  }
  static bool initial(FlagCheck, bool value) { return value; }
  template <typename Field>
  static std::string initial(FlagCheck check, const Field &value) {
    return flagText(check, value);
  }
  static void assign(bool &field, FlagCheck, bool value) { field = value; }
  /// A default may be what nobody can ask for; it stays.
  template <typename Field>
  static void assign(Field &field, FlagCheck check, const std::string &text) {
    Field value = field;
    if (readFlag("", check, text, value).empty())
      field = value;
  }
};

using BuildPipeline = LogicalResult (*)(OpPassManager &, const PlanOptions &,
                                        RefusePlan);

/// Registers a pipeline that refuses what the driver refuses, a flag that its
/// plan would ignore too.
void registerPipeline(StringRef name, StringRef what, BuildPipeline build) {
  registerPassPipeline(
      name, what,
      [build](OpPassManager &passes, StringRef text, RefusePlan refuse) {
        PipelineFlags flags;
        if (failed(flags.parseFromString(text)))
          return failure();
        const PlanOptions plan = flags.plan();
        if (std::string why = checkPlan(plan, flags.given()); !why.empty())
          return refuse(why);
        return build(passes, plan, refuse);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(PipelineFlags());
      });
}

} // namespace

void tessera::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<nn::NNDialect, dist::DistDialect, rt::RTDialect>();
  registerKernelOps(registry);
  registerEntryCalls(registry);
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              index::IndexDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
              math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect,
              tensor::TensorDialect, vector::VectorDialect>();
}

/// Registers MLIR's passes that pipelines hold, so that reproducers name them,
/// and its general ones. With all of MLIR's tessera-opt is three times as
/// large.
static void registerMLIRPasses() {
  registerTransformsPasses();
  registerPass([] { return arith::createArithExpandOpsPass(); });
  registerPass([] { return createArithToLLVMConversionPass(); });
  registerPass([] { return createReconcileUnrealizedCastsPass(); });
}

void tessera::registerCompilerPasses() {
  registerMLIRPasses();
  registerModelPasses();
  registerInferencePasses();
  registerDistributePasses();
  registerTrainPasses();
  registerPartitionPasses();
  registerLowerPasses();
  registerCommunicatePasses();
  registerMemoryPasses();
  registerKernelToLLVMPasses();
  registerCallCodegenPasses();
  registerTargetPasses();
  registerPipeline("tessera-distribute", "nn to a typed training step",
                   buildDistributePipeline);
  registerPipeline("tessera-lower",
                   "A typed training step to the program of one rank",
                   buildLowerPipeline);
  registerPipeline("tessera-communicate", "Fewer and earlier collectives",
                   buildCommunicatePipeline);
  registerPipeline("tessera-memory",
                   "The memory plan of a lowered program, checked",
                   buildMemoryPipeline);
  registerPipeline("tessera-code", "A planned program to the LLVM dialect",
                   buildCodePipeline);
  registerPipeline("tessera-compile", "nn to the LLVM dialect: all stages",
                   buildCompilePipeline);
}
