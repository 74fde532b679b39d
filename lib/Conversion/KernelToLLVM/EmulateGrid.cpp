//===- EmulateGrid.cpp - CUDA kernels as host code, for tests -------------===//
// The kernel stays as it is, thread by thread; only what a GPU's hardware does
// becomes calls of an emulator. So the very code that becomes PTX can be run,
// and compared with the CPU's kernels, where there is no GPU.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tessera/Conversion/KernelToLLVM/DeviceKernel.h"
#include "tessera/Conversion/KernelToLLVM/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_EMULATEGRIDPASS
#include "tessera/Conversion/KernelToLLVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {

/// Entries of the emulator's table, in the order of tsr_grid_emulator.
enum Entry { kRun, kThread, kBlock, kShuffle, kBarrier, kWarpBarrier, kShared };

class Emulation {
public:
  explicit Emulation(ModuleOp module)
      : module(module),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(IntegerType::get(module.getContext(), 32)) {}

  LogicalResult run() {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(top, module.getLoc(), pointer, /*isConstant=*/false,
                           LLVM::Linkage::External,
                           tessera::kGridEmulatorSymbol,
                           LLVM::ZeroAttr::get(module.getContext()));
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        kernels.push_back(function);
    for (LLVM::LLVMFuncOp kernel : kernels) {
      if (failed(replaceHardware(kernel)))
        return failure();
      wrap(kernel);
    }
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() != 0)
        global.erase();
    return success();
  }

private:
  Value call(OpBuilder &builder, Location loc, Entry entry, Type result,
             ValueRange operands) {
    Value table = LLVM::LoadOp::create(
        builder, loc, pointer,
        LLVM::AddressOfOp::create(builder, loc, pointer,
                                  tessera::kGridEmulatorSymbol));
    Value at = LLVM::GEPOp::create(builder, loc, pointer, pointer, table,
                                   ArrayRef<LLVM::GEPArg>{int32_t(entry)});
    Value function = LLVM::LoadOp::create(builder, loc, pointer, at);
    SmallVector<Value> all = {function};
    llvm::append_range(all, operands);
    auto type = LLVM::LLVMFunctionType::get(
        result ? result : LLVM::LLVMVoidType::get(module.getContext()),
        SmallVector<Type>(operands.getTypes()));
    auto call = LLVM::CallOp::create(builder, loc, type, all);
    return result ? call.getResult() : Value();
  }

  void shuffle(NVVM::ShflOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value bits = op.getVal();
    Type type = bits.getType();
    if (type != i32)
      bits = LLVM::BitcastOp::create(builder, loc, i32, bits);
    Value other =
        call(builder, loc, kShuffle, i32, ValueRange{bits, op.getOffset()});
    if (type != i32)
      other = LLVM::BitcastOp::create(builder, loc, type, other);
    op.replaceAllUsesWith(other);
    op.erase();
  }

  void replaceWith(Operation *op, Entry entry, Type result) {
    OpBuilder builder(op);
    Value value = call(builder, op->getLoc(), entry, result, {});
    if (result)
      op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  LogicalResult replace(Operation *op) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](NVVM::ThreadIdXOp op) {
          return replaceWith(op, kThread, i32), success();
        })
        .Case([&](NVVM::BlockIdXOp op) {
          return replaceWith(op, kBlock, i32), success();
        })
        .Case([&](NVVM::Barrier0Op op) {
          return replaceWith(op, kBarrier, Type()), success();
        })
        .Case([&](NVVM::SyncWarpOp op) {
          return replaceWith(op, kWarpBarrier, Type()), success();
        })
        .Case([&](NVVM::ShflOp op) { return shuffle(op), success(); })
        .Case([&](LLVM::AddrSpaceCastOp op) {
          return replaceWith(op, kShared, pointer), success();
        })
        .Default([](Operation *op) {
          return op->emitError() << "has no emulation";
        });
  }

  LogicalResult replaceHardware(LLVM::LLVMFuncOp kernel) {
    SmallVector<Operation *> hardware, addresses;
    kernel.walk([&](Operation *op) {
      bool isNvvm = isa<NVVM::NVVMDialect>(op->getDialect());
      if (isNvvm || isa<LLVM::AddrSpaceCastOp>(op))
        hardware.push_back(op);
      auto address = dyn_cast<LLVM::AddressOfOp>(op);
      if (address && address.getType() != pointer)
        addresses.push_back(op);
    });
    for (Operation *op : hardware)
      if (failed(replace(op)))
        return failure();
    for (Operation *op : addresses)
      op->erase();
    return success();
  }

  /// `void k(buffers, scalars, begin, end)` (tsr_abi_kernel).
  void wrap(LLVM::LLVMFuncOp kernel) {
    Location loc = kernel.getLoc();
    std::string name = kernel.getName().str();
    kernel.setName(name + "_thread");
    kernel->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
    OpBuilder builder(kernel);
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(builder.getContext()),
        {pointer, pointer, i64, i64});
    auto wrapper = LLVM::LLVMFuncOp::create(builder, loc, name, type);
    builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
    auto address = [&](StringRef symbol) -> Value {
      return LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
    };
    SmallVector<Value> operands = {address(kernel.getName()),
                                   address(tessera::deviceKernelSymbol(name))};
    llvm::append_range(operands, wrapper.getArguments());
    call(builder, loc, kRun, Type(), operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }

  ModuleOp module;
  Type pointer, i32;
};

struct EmulateGrid : tessera::impl::EmulateGridPassBase<EmulateGrid> {
  void runOnOperation() override {
    if (failed(Emulation(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
