//===- ConvertKernelToNVVM.cpp - kernels to CUDA kernels ------------------===//

#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tessera/Codegen/Kernels/DeviceKernel.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera {
#define GEN_PASS_DEF_CONVERTKERNELTONVVMPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using tessera::GridPart;
using tessera::GridRole;

bool tessera::isDeviceKernel(Operation *function) {
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

std::string tessera::batchedKernelSymbol(StringRef kernel) {
  return (kernel + "_batch").str();
}

std::string tessera::deviceKernelSymbol(StringRef kernel) {
  return (kernel + "_descriptor").str();
}

namespace {

/// Parameters that the kernels of a launch have in common.
struct Parameters {
  int64_t buffers = 0, scalars = 0;
};

/// Fills a tsr_abi_device_kernel; the fields stand in its order.
class DescriptorBuilder {
public:
  DescriptorBuilder(OpBuilder builder, Location loc)
      : builder(builder), loc(loc),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  /// `next` is the kernel that runs after it, `batched` the form for several
  /// launches; each may be empty.
  void create(StringRef name, const tessera::GridShape &grid,
              const Parameters &parameters, StringRef next, StringRef batched) {
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMStructType::getLiteral(
        builder.getContext(),
        {pointer, i64, i64, i64, i64, i64, pointer, pointer});
    std::string text = createName(name);
    std::string form = batched.empty() ? "" : createName(batched);
    auto global = LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
        tessera::deviceKernelSymbol(name), Attribute());
    builder.createBlock(&global.getInitializerRegion());
    value = LLVM::UndefOp::create(builder, loc, type);
    insert(LLVM::AddressOfOp::create(builder, loc, pointer, text));
    for (int64_t field : {grid.blocks, grid.threads, grid.sharedBytes,
                          parameters.buffers, parameters.scalars})
      insert(LLVM::ConstantOp::create(builder, loc, i64, field));
    insertAddress(next.empty() ? "" : tessera::deviceKernelSymbol(next));
    insertAddress(form);
    LLVM::ReturnOp::create(builder, loc, value);
  }

private:
  std::string createName(StringRef name) {
    std::string symbol = (name + "_name").str();
    std::string text = name.str() + '\0';
    LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
        builder.getStringAttr(text));
    return symbol;
  }

  /// Inserts the address of a symbol; null without one.
  void insertAddress(StringRef symbol) {
    insert(symbol.empty()
               ? Value(LLVM::ZeroOp::create(builder, loc, pointer))
               : LLVM::AddressOfOp::create(builder, loc, pointer, symbol));
  }

  void insert(Value field) {
    value = LLVM::InsertValueOp::create(builder, loc, value, field, next++);
  }

  OpBuilder builder;
  Location loc;
  Type pointer;
  Value value;
  int64_t next = 0;
};

/// Creates the form of a kernel for several launches (TSR_BATCH_POINTERS): the
/// same code behind loads of the buffers' addresses.
void createBatched(LLVM::LLVMFuncOp kernel, const Parameters &parameters) {
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  auto form = cast<LLVM::LLVMFuncOp>(builder.clone(*kernel));
  form.setName(tessera::batchedKernelSymbol(kernel.getName()));
  MLIRContext *context = builder.getContext();
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  form.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer}));
  Block &entry = form.getBody().front();
  Value table = entry.insertArgument(0u, pointer, loc);
  builder.setInsertionPointToStart(&entry);
  Value launch = LLVM::ZExtOp::create(
      builder, loc, builder.getI64Type(),
      NVVM::BlockIdYOp::create(builder, loc, builder.getI32Type()));
  auto row = LLVM::LLVMArrayType::get(pointer, parameters.buffers);
  Value buffers = LLVM::GEPOp::create(builder, loc, pointer, row, table,
                                      ArrayRef<LLVM::GEPArg>{launch});
  for (int64_t i = 0; i < parameters.buffers; ++i) {
    Value at =
        LLVM::GEPOp::create(builder, loc, pointer, pointer, buffers,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    entry.getArgument(i + 1).replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, pointer, at, /*alignment=*/8));
  }
  // Neither scalars nor the workspace have a use.
  entry.eraseArguments(1, entry.getNumArguments() - 1);
  form.setArgAttr(
      0, LLVM::LLVMDialect::getByValAttrName(),
      TypeAttr::get(LLVM::LLVMArrayType::get(pointer, TSR_BATCH_POINTERS)));
  form.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(),
                  builder.getI64IntegerAttr(alignof(void *)));
}

struct ConvertKernelToNVVM
    : tessera::impl::ConvertKernelToNVVMPassBase<ConvertKernelToNVVM> {
  using ConvertKernelToNVVMPassBase::ConvertKernelToNVVMPassBase;

  /// Emits one kernel, or two of which the second runs after the first.
  SmallVector<GridPart> partsOf(const tessera::Kernel &kernel) {
    std::string name = func::FuncOp(kernel.func).getName().str();
    std::optional<tessera::RowSlices> slices = tessera::sliceRows(kernel);
    if (!slices)
      return {{name}};
    workspaceBytes = std::max(workspaceBytes, slices->workspaceBytes);
    return {{name, GridRole::Partial, *slices},
            {name + "_total", GridRole::Total, *slices}};
  }

  /// Checks a kernel that also sums along columns, whose code has each step of
  /// a row.
  LogicalResult checkSteps(func::FuncOp func, const tessera::Kernel &kernel,
                           const GridPart &part) {
    constexpr int64_t most = 1024;
    if (kernel.traversal != tessera::Traversal::Rows ||
        part.role != GridRole::Partial)
      return success();
    const tessera::RowSlices &slices = part.slices;
    int64_t stride = slices.threads / slices.groups * slices.lanes;
    if (kernel.cols / stride <= most)
      return success();
    return func.emitError() << "has rows of " << kernel.cols
                            << " columns and sums along them, for which a "
                               "kernel has at most "
                            << most * stride << " columns";
  }

  LogicalResult convert(func::FuncOp func) {
    FailureOr<tessera::Kernel> kernel = tessera::Kernel::analyze(func);
    if (failed(kernel))
      return failure();
    Parameters parameters;
    parameters.scalars = llvm::count_if(func.getArgumentTypes(), [](Type type) {
      return !isa<TensorType>(type);
    });
    parameters.buffers =
        func.getNumArguments() - parameters.scalars + kernel->results.size();
    SmallVector<GridPart> parts = partsOf(*kernel);
    if (failed(checkSteps(func, *kernel, parts.front())))
      return failure();
    for (auto [i, part] : llvm::enumerate(parts)) {
      tessera::GridEmitter emitter(*kernel, part, hasLibm);
      if (failed(emitter.emit()))
        return failure();
      bool isBatched = batched.contains(part.name);
      if (isBatched)
        createBatched(emitter.code(), parameters);
      DescriptorBuilder(OpBuilder(func), func.getLoc())
          .create(part.name, emitter.shape(), parameters,
                  i + 1 < parts.size() ? StringRef(parts[i + 1].name) : "",
                  isBatched ? tessera::batchedKernelSymbol(part.name) : "");
    }
    func.erase();
    return success();
  }

  void runOnOperation() override {
    getOperation().walk([&](tessera::rt::LaunchOp launch) {
      if (launch->hasAttr(tessera::rt::RTDialect::kFollowersAttr))
        batched.insert(launch.getKernel());
    });
    SmallVector<func::FuncOp> kernels;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr("rt.schedule"))
        kernels.push_back(func);
    for (func::FuncOp func : kernels)
      if (failed(convert(func)))
        return signalPassFailure();
    if (workspaceBytes > 0)
      getOperation()->setAttr(
          tessera::rt::kWorkspaceAttr,
          Builder(&getContext()).getI64IntegerAttr(workspaceBytes));
  }

  /// The largest workspace that a kernel needs.
  int64_t workspaceBytes = 0;
  /// Kernels of which several launches run as one.
  llvm::DenseSet<StringRef> batched;
};

} // namespace
