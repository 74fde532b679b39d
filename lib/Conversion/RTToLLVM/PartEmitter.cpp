//===- PartEmitter.cpp - code of some consecutive ops ---------------------===//

#include "PartEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tessera/Conversion/KernelToLLVM/DeviceKernel.h"
#include "tessera/abi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

LLVM::GlobalOp ConstantTables::get(ArrayRef<int64_t> values) {
  OpBuilder builder(position);
  Type i64 = builder.getI64Type();
  auto content = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(values.size())}, i64),
      values);
  LLVM::GlobalOp &global = tables[content];
  if (!global)
    global = LLVM::GlobalOp::create(
        builder, position->getLoc(),
        LLVM::LLVMArrayType::get(i64, values.size()), /*isConstant=*/true,
        LLVM::Linkage::Internal,
        "tsr_arguments_" + std::to_string(tables.size()), content);
  return global;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A larger table replaces a smaller one; the old one is not used again.
void PartEmitter::reserve(Value &table, int64_t &reserved, int64_t slots) {
  if (slots <= reserved)
    return;
  reserved = std::max<int64_t>(2 * reserved, slots);
  table = part.createTable(reserved);
}

/// CUDA kernels read and write 16 bytes at once.
static LogicalResult checkAlignment(const RuntimeCall &call, Operation *op) {
  constexpr int64_t alignment = 16;
  for (Value buffer : call.buffers) {
    int64_t offset = *rt::offsetOf(buffer);
    for (auto view = buffer.getDefiningOp<rt::ViewOp>(); view;
         view = view.getSource().getDefiningOp<rt::ViewOp>())
      if (view.getIndex())
        offset |=
            static_cast<int64_t>(view.getStride()) * rt::elementBytesOf(buffer);
    if (offset % alignment != 0)
      return op->emitError()
             << "reads a buffer at a multiple of " << (offset & -offset)
             << " bytes, CUDA kernels need " << alignment
             << "; use sizes that are multiples of 8, or the CPU";
  }
  return success();
}

FailureOr<Value> PartEmitter::bufferTable(const RuntimeCall &call,
                                          Operation *op) {
  reserve(buffers, bufferSlots, call.buffers.size() + 1);
  int64_t next = 0;
  if (call.kernel) {
    auto kernel = symbols.lookup<LLVM::LLVMFuncOp>(call.kernel.getAttr());
    if (!kernel)
      return op->emitError() << "launches " << call.kernel
                             << ", which is no llvm.func; run "
                                "convert-kernel-to-llvm first";
    bool isDevice = kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    if (isDevice && failed(checkAlignment(call, op)))
      return failure();
    std::string symbol = isDevice ? deviceKernelSymbol(kernel.getName())
                                  : kernel.getName().str();
    part.store(
        LLVM::AddressOfOp::create(part.builder, part.loc, part.pointer, symbol),
        buffers, next++);
  }
  for (Value buffer : call.buffers) {
    Value address =
        buffer
            ? pointerTo(buffer)
            : Value(LLVM::ZeroOp::create(part.builder, part.loc, part.pointer));
    part.store(address, buffers, next++);
  }
  return buffers;
}

Value PartEmitter::valueOf(const CallArgument &argument) {
  switch (argument.source) {
  case CallArgument::Constant:
    return part.constant(argument.constant);
  case CallArgument::Scalar:
    return scalarOf(argument.scalar);
  case CallArgument::Seed:
    return part.field(offsetof(tsr_abi_frame, seed), part.i64);
  case CallArgument::Step:
    return part.field(offsetof(tsr_abi_frame, step), part.i64);
  }
  llvm_unreachable("every source is handled");
}

Value PartEmitter::argumentTable(const RuntimeCall &call) {
  if (call.arguments.empty())
    return LLVM::ZeroOp::create(part.builder, part.loc, part.pointer);
  SmallVector<int64_t> values;
  for (const CallArgument &argument : call.arguments)
    if (argument.source == CallArgument::Constant)
      values.push_back(argument.constant);
  if (values.size() == call.arguments.size())
    return LLVM::AddressOfOp::create(part.builder, part.loc,
                                     tables.get(values));
  reserve(arguments, argumentSlots, call.arguments.size());
  for (auto [index, argument] : llvm::enumerate(call.arguments))
    part.store(valueOf(argument), arguments, index);
  return arguments;
}

LogicalResult PartEmitter::emit(rt::RuntimeCallOpInterface op, int64_t index) {
  part.loc = op.getLoc();
  FailureOr<RuntimeCall> call = describeCall(op, mesh);
  if (failed(call))
    return failure();
  FailureOr<Value> bufferArray = bufferTable(*call, op);
  if (failed(bufferArray))
    return failure();
  Value argumentArray = argumentTable(*call);
  Value api = part.field(offsetof(tsr_abi_frame, api), part.pointer);
  Value context = part.field(offsetof(tsr_abi_frame, context), part.pointer);
  // Entries are pointers behind the 8 bytes of tsr_abi_api's size.
  Value entry = part.load(api, call->entry * sizeof(void *), part.pointer);
  auto type = LLVM::LLVMFunctionType::get(
      part.i32, {part.pointer, part.i64, part.pointer, part.pointer});
  auto status =
      LLVM::CallOp::create(part.builder, part.loc, type,
                           ValueRange{entry, context, part.constant(index),
                                      *bufferArray, argumentArray});
  part.stopUnlessZero(status.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses and scalars
//===----------------------------------------------------------------------===//

/// Everything lies at a static offset of the arena, views with an index at a
/// multiple of it behind their own.
Value PartEmitter::pointerTo(Value tensor) {
  Value arena = part.field(offsetof(tsr_abi_frame, arena), part.pointer);
  Value address = part.advance(arena, *rt::offsetOf(tensor));
  int64_t element = rt::elementBytesOf(tensor);
  for (auto view = tensor.getDefiningOp<rt::ViewOp>(); view;
       view = view.getSource().getDefiningOp<rt::ViewOp>()) {
    if (!view.getIndex())
      continue;
    int64_t stride = view.getStride();
    Value bytes =
        LLVM::MulOp::create(part.builder, part.loc, scalarOf(view.getIndex()),
                            part.constant(stride * element));
    address = LLVM::GEPOp::create(part.builder, part.loc, part.pointer,
                                  part.builder.getI8Type(), address, bytes);
  }
  return address;
}

/// Depth of the loop whose counter the value is.
static unsigned depthOf(BlockArgument counter) {
  unsigned depth = 0;
  Operation *loop = counter.getOwner()->getParentOp();
  while ((loop = loop->getParentOfType<rt::LoopOp>()))
    ++depth;
  return depth;
}

Value PartEmitter::scalarOf(Value value) {
  if (Value known = scalars.lookupOrNull(value))
    return known;
  if (auto counter = dyn_cast<BlockArgument>(value)) {
    scalars.map(value, part.iteration(depthOf(counter)));
    return scalars.lookup(value);
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    scalarOf(operand);
  TypeSwitch<Operation *>(op)
      .Case([&](rt::StepOp) {
        scalars.map(value, part.field(offsetof(tsr_abi_frame, step), part.i64));
      })
      .Case([&](rt::SeedOp) {
        scalars.map(value, part.field(offsetof(tsr_abi_frame, seed), part.i64));
      })
      .Case([&](rt::CoordOp coord) {
        Value all =
            part.field(offsetof(tsr_abi_frame, coordinates), part.pointer);
        int64_t axis = mesh.getIndex(coord.getAxis());
        scalars.map(value, part.load(all, axis * sizeof(int64_t), part.i64));
      })
      .Case([&](rt::StreamKeyOp key) { scalars.map(value, streamKey(key)); })
      .Default([&](Operation *arith) { part.builder.clone(*arith, scalars); });
  return scalars.lookup(value);
}

/// tsr_abi_mix.
Value PartEmitter::mixed(Value x) {
  OpBuilder &b = part.builder;
  auto shifted = [&](int64_t by) -> Value {
    Value shift = LLVM::LShrOp::create(b, part.loc, x, part.constant(by));
    return LLVM::XOrOp::create(b, part.loc, x, shift);
  };
  auto times = [&](uint64_t factor) -> Value {
    return LLVM::MulOp::create(b, part.loc, x,
                               part.constant(static_cast<int64_t>(factor)));
  };
  x = shifted(30);
  x = times(0xBF58476D1CE4E5B9u);
  x = shifted(27);
  x = times(0x94D049BB133111EBu);
  return shifted(31);
}

/// tsr_abi_stream.
Value PartEmitter::streamKey(rt::StreamKeyOp op) {
  OpBuilder &b = part.builder;
  Value next = LLVM::AddOp::create(b, part.loc, scalarOf(op.getStep()),
                                   part.constant(1));
  Value scaled = LLVM::MulOp::create(
      b, part.loc, next,
      part.constant(static_cast<int64_t>(0x9E3779B97F4A7C15u)));
  Value a =
      mixed(LLVM::AddOp::create(b, part.loc, scalarOf(op.getSeed()), scaled));
  uint64_t stream = 0xD1B54A32D192ED03u * (op.getStream() + 1);
  return mixed(LLVM::XOrOp::create(
      b, part.loc, a, part.constant(static_cast<int64_t>(stream))));
}
