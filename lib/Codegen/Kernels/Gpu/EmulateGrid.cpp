//===- EmulateGrid.cpp - CUDA kernels as host code, for tests -------------===//
// The kernel stays as it is, thread by thread; only what a GPU's hardware does
// becomes calls of an emulator. So the very code that becomes PTX can be run,
// and compared with the CPU's kernels, where there is no GPU.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Polynomials.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tessera/Codegen/Kernels/DeviceKernel.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_EMULATEGRIDPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {

/// Entries of the emulator's table, in the order of tsr_grid_emulator.
enum Entry {
  kRun,
  kThread,
  kBlock,
  kLaunch,
  kShuffle,
  kBarrier,
  kWarpBarrier,
  kShared
};

class Emulation {
  static constexpr const char *kTable = "tsr_emulator_table";

public:
  Emulation(ModuleOp module, bool launches)
      : module(module), launches(launches),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(IntegerType::get(module.getContext(), 32)) {}

  LogicalResult run() {
    createLookup();
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        kernels.push_back(function);
    for (LLVM::LLVMFuncOp kernel : kernels)
      if (failed(replaceHardware(kernel)))
        return failure();
    findFollowers(kernels);
    for (LLVM::LLVMFuncOp kernel : kernels)
      makeThread(kernel);
    if (launches)
      createImage();
    else
      wrapKernels();
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() != 0)
        global.erase();
    return success();
  }

private:
  /// Emits a constructor: table = dlsym(RTLD_DEFAULT, NAME).
  void createLookup() {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Location loc = module.getLoc();
    auto nothing = LLVM::LLVMVoidType::get(module.getContext());
    LLVM::GlobalOp::create(builder, loc, pointer, /*isConstant=*/false,
                           LLVM::Linkage::Internal, kTable,
                           LLVM::ZeroAttr::get(module.getContext()));
    createText(builder, "tsr_emulator_name", tessera::kGridEmulatorSymbol);
    auto dlsym = LLVM::LLVMFuncOp::create(
        builder, loc, "dlsym",
        LLVM::LLVMFunctionType::get(pointer, {pointer, pointer}));
    auto load = LLVM::LLVMFuncOp::create(
        builder, loc, "tsr_find_emulator",
        LLVM::LLVMFunctionType::get(nothing, {}), LLVM::Linkage::Internal);
    LLVM::GlobalCtorsOp::create(
        builder, loc,
        builder.getArrayAttr(FlatSymbolRefAttr::get(load.getNameAttr())),
        builder.getI32ArrayAttr(0),
        builder.getArrayAttr(LLVM::ZeroAttr::get(module.getContext())));
    builder.setInsertionPointToStart(load.addEntryBlock(builder));
    Value name =
        LLVM::AddressOfOp::create(builder, loc, pointer, "tsr_emulator_name");
    Value everywhere = LLVM::ZeroOp::create(builder, loc, pointer);
    auto found =
        LLVM::CallOp::create(builder, loc, dlsym, ValueRange{everywhere, name});
    LLVM::StoreOp::create(
        builder, loc, found.getResult(),
        LLVM::AddressOfOp::create(builder, loc, pointer, kTable));
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }

  void createText(OpBuilder &builder, StringRef name, StringRef value) {
    std::string text = value.str() + '\0';
    LLVM::GlobalOp::create(
        builder, module.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        builder.getStringAttr(text));
  }

  /// Creates a tsr_abi_device_image without code: the device looks into the
  /// program.
  void createImage() {
    constexpr StringLiteral text = "emulated";
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Location loc = module.getLoc();
    createText(builder, "tsr_emulated", text);
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMStructType::getLiteral(
        module.getContext(), {pointer, i64, pointer, i64, i64});
    auto image = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                        LLVM::Linkage::External,
                                        TSR_PROGRAM_IMAGE, Attribute());
    builder.createBlock(&image.getInitializerRegion());
    auto number = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, i64, value);
    };
    auto bytes =
        module->getAttrOfType<IntegerAttr>(tessera::rt::kWorkspaceAttr);
    Value ptx =
        LLVM::AddressOfOp::create(builder, loc, pointer, "tsr_emulated");
    Value cubin = LLVM::ZeroOp::create(builder, loc, pointer);
    Value fields[] = {ptx, number(text.size() + 1), cubin, number(0),
                      number(bytes ? bytes.getInt() : 0)};
    Value value = LLVM::UndefOp::create(builder, loc, type);
    for (auto [i, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(builder, loc, value, field, i);
    LLVM::ReturnOp::create(builder, loc, value);
  }

  /// Emits what the CPU's `launch` calls.
  void wrapKernels() {
    for (StringAttr first : firstKernels) {
      launchWrapper(first);
      wrap(first);
    }
  }

  /// Puts a wrapper into the program's table: the CPU's `launch` calls kernels.
  void launchWrapper(StringRef kernel) {
    auto descriptor = FlatSymbolRefAttr::get(
        module.getContext(), tessera::deviceKernelSymbol(kernel));
    auto wrapper = FlatSymbolRefAttr::get(module.getContext(), kernel);
    auto table =
        module.lookupSymbol<LLVM::GlobalOp>(tessera::kKernelTableSymbol);
    if (table)
      table.walk([&](LLVM::AddressOfOp op) {
        if (op.getGlobalNameAttr() == descriptor)
          op.setGlobalNameAttr(wrapper);
      });
  }

  Value call(OpBuilder &builder, Location loc, Entry entry, Type result,
             ValueRange operands) {
    Value table = LLVM::LoadOp::create(
        builder, loc, pointer,
        LLVM::AddressOfOp::create(builder, loc, pointer, kTable));
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

  /// f32 to bf16, to nearest with ties to even; LLVM would call a function that
  /// programs do not have.
  static void round(LLVM::FPTruncOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto like = [&](Type element) -> Type {
      auto vector = dyn_cast<VectorType>(op.getType());
      return vector ? Type(vector.clone(element)) : element;
    };
    Type wide = like(builder.getI32Type()), narrow = like(builder.getI16Type());
    auto number = [&](Type type, int64_t value) -> Value {
      TypedAttr attribute =
          builder.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto vector = dyn_cast<VectorType>(type))
        attribute = DenseElementsAttr::get(vector, Attribute(attribute));
      return LLVM::ConstantOp::create(builder, loc, type, attribute);
    };
    Value x = op.getArg(), half = number(wide, 16);
    Value bits = LLVM::BitcastOp::create(builder, loc, wide, x);
    Value isOdd = LLVM::AndOp::create(
        builder, loc, LLVM::LShrOp::create(builder, loc, bits, half),
        number(wide, 1));
    bits = LLVM::AddOp::create(builder, loc, bits, isOdd);
    bits = LLVM::AddOp::create(builder, loc, bits, number(wide, 0x7fff));
    Value high = LLVM::TruncOp::create(
        builder, loc, narrow, LLVM::LShrOp::create(builder, loc, bits, half));
    Value isNan =
        LLVM::FCmpOp::create(builder, loc, LLVM::FCmpPredicate::uno, x, x);
    high = LLVM::SelectOp::create(builder, loc, isNan, number(narrow, 0x7fc0),
                                  high);
    op.replaceAllUsesWith(
        LLVM::BitcastOp::create(builder, loc, op.getType(), high).getResult());
    op.erase();
  }

  LogicalResult replace(Operation *op) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](NVVM::ThreadIdXOp op) {
          return replaceWith(op, kThread, i32), success();
        })
        .Case([&](NVVM::BlockIdXOp op) {
          return replaceWith(op, kBlock, i32), success();
        })
        .Case([&](NVVM::BlockIdYOp op) {
          return replaceWith(op, kLaunch, i32), success();
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
        .Case([&](LLVM::FPTruncOp op) { return round(op), success(); })
        .Case([&](LLVM::CallIntrinsicOp op) {
          OpBuilder builder(op);
          Value power =
              LLVM::Exp2Op::create(builder, op.getLoc(), op.getArgs().front());
          op->getResult(0).replaceAllUsesWith(power);
          return op.erase(), success();
        })
        .Default([](Operation *op) {
          return op->emitError() << "has no emulation";
        });
  }

  LogicalResult replaceHardware(LLVM::LLVMFuncOp kernel) {
    SmallVector<Operation *> hardware, addresses;
    kernel.walk([&](Operation *op) {
      bool isNvvm = isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect());
      auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
      bool isPower =
          intrinsic && intrinsic.getIntrin() == tessera::kPowerOfTwoIntrinsic;
      bool isRounding = isa<LLVM::FPTruncOp>(op) &&
                        getElementTypeOrSelf(op->getResult(0)).isBF16();
      if (isNvvm || isPower || isRounding || isa<LLVM::AddrSpaceCastOp>(op))
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

  /// Finds the kernel that runs after each: the descriptor names it.
  void findFollowers(ArrayRef<LLVM::LLVMFuncOp> kernels) {
    llvm::StringMap<StringAttr> kernelOf;
    for (LLVM::LLVMFuncOp kernel : kernels) {
      // A form for several launches has none: only devices know it.
      if (!module.lookupSymbol(tessera::deviceKernelSymbol(kernel.getName())))
        continue;
      firstKernels.insert(kernel.getNameAttr());
      kernelOf[tessera::deviceKernelSymbol(kernel.getName())] =
          kernel.getNameAttr();
    }
    for (auto &[descriptor, kernel] : kernelOf)
      module.lookupSymbol(descriptor)->walk([&](LLVM::AddressOfOp op) {
        StringAttr next = kernelOf.lookup(op.getGlobalName());
        if (!next)
          return;
        followers[kernel] = next;
        firstKernels.remove(next);
      });
  }

  static std::string threadSymbol(StringAttr kernel) {
    return (kernel.getValue() + "_thread").str();
  }

  void makeThread(LLVM::LLVMFuncOp kernel) {
    kernel.setName(threadSymbol(kernel.getNameAttr()));
    kernel->removeAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
    // A table by value is passed by its address.
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      kernel.removeArgAttr(i, LLVM::LLVMDialect::getByValAttrName());
  }

  /// Returns the functions that the threads of a kernel and of those after it
  /// run.
  Value threadTable(OpBuilder &builder, Location loc, StringAttr first) {
    SmallVector<StringAttr> chain;
    for (StringAttr kernel = first; kernel; kernel = followers.lookup(kernel))
      chain.push_back(kernel);
    Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                          int64_t(chain.size()));
    Value table = LLVM::AllocaOp::create(builder, loc, pointer, pointer, size);
    for (auto [i, kernel] : llvm::enumerate(chain)) {
      Value thread = LLVM::AddressOfOp::create(builder, loc, pointer,
                                               threadSymbol(kernel));
      LLVM::StoreOp::create(
          builder, loc, thread,
          LLVM::GEPOp::create(builder, loc, pointer, pointer, table,
                              ArrayRef<LLVM::GEPArg>{int32_t(i)}));
    }
    return table;
  }

  /// Wraps a kernel in `void k(buffers, scalars, begin, end)` (tsr_abi_kernel).
  void wrap(StringAttr name) {
    auto thread = module.lookupSymbol<LLVM::LLVMFuncOp>(threadSymbol(name));
    Location loc = thread.getLoc();
    OpBuilder builder(thread);
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(builder.getContext()),
        {pointer, pointer, i64, i64});
    auto wrapper = LLVM::LLVMFuncOp::create(builder, loc, name, type);
    builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
    auto bytes =
        module->getAttrOfType<IntegerAttr>(tessera::rt::kWorkspaceAttr);
    SmallVector<Value> operands = {
        threadTable(builder, loc, name),
        LLVM::AddressOfOp::create(builder, loc, pointer,
                                  tessera::deviceKernelSymbol(name)),
        LLVM::ConstantOp::create(builder, loc, i64,
                                 bytes ? bytes.getInt() : 0)};
    llvm::append_range(operands, wrapper.getArguments());
    call(builder, loc, kRun, Type(), operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }

  ModuleOp module;
  bool launches;
  Type pointer, i32;
  /// Finds the kernels that run after no other, and the kernel after each.
  llvm::SetVector<StringAttr> firstKernels;
  llvm::DenseMap<StringAttr, StringAttr> followers;
};

struct EmulateGrid : tessera::impl::EmulateGridPassBase<EmulateGrid> {
  using EmulateGridPassBase::EmulateGridPassBase;

  void runOnOperation() override {
    if (failed(Emulation(getOperation(), launches).run()))
      signalPassFailure();
  }
};

} // namespace
