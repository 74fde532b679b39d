//===- CallList.cpp - consecutive ops as a list of calls ------------------===//

#include "lib/Codegen/Calls/CallList.h"
#include "tessera/Codegen/Kernels/DeviceKernel.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

/// Returns two integers of 32 bits in a word.
static int64_t pack(int64_t low, int64_t high) {
  return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 |
                              static_cast<uint32_t>(low));
}

//===----------------------------------------------------------------------===//
// Values that are known when the list runs
//===----------------------------------------------------------------------===//

/// Slot 0 is zero.
int64_t CallList::slotOf(const Slot &slot) {
  if (slot.empty())
    return 0;
  return slots.try_emplace(slot, slots.size() + 1).first->second;
}

Value CallList::codeOf(const Slot &slot, StatusFunction &function,
                       Scalars &scalars) {
  Value sum;
  for (auto [source, scalar, factor] : slot) {
    CallArgument argument;
    argument.source = static_cast<CallArgument::Source>(source);
    if (argument.source == CallArgument::Frame)
      argument.constant = reinterpret_cast<int64_t>(scalar);
    else
      argument.scalar = Value::getFromOpaquePointer(scalar);
    Value term = scalars.codeOf(argument);
    if (factor != 1)
      term = LLVM::MulOp::create(function.builder, function.loc, term,
                                 function.constant(factor));
    sum = sum ? Value(LLVM::AddOp::create(function.builder, function.loc, sum,
                                          term))
              : term;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Frames are known where a micro-batch is: inside a task.
static bool isInTask(Operation *op) {
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp())
    for (Operation *at = op; at; at = at->getPrevNode())
      if (rt::isTaskBorder(at))
        return isa<rt::TaskOp>(at);
  return false;
}

/// Buffers lie in the arena or, in a task, in a frame of the program.
static LogicalResult checkFrames(const RuntimeCall &call, Operation *op) {
  auto program = op->getParentOfType<func::FuncOp>();
  bool hasTasks = program->hasAttr(rt::RTDialect::kOrderAttr);
  int64_t frames = hasTasks ? rt::countFrames(program) : 0;
  for (Value buffer : call.buffers) {
    int64_t frame = buffer ? rt::frameOf(*rt::offsetOf(buffer)) : 0;
    if (frame < 0 || frame > frames || (frame > 0 && !isInTask(op)))
      return op->emitError()
             << "has a buffer at offset " << *rt::offsetOf(buffer)
             << ", in frame " << frame << " of " << frames
             << "; run rt-plan-memory first";
  }
  return success();
}

/// CUDA kernels read and write 16 bytes at once.
static LogicalResult checkAlignment(const RuntimeCall &call, Operation *op) {
  constexpr int64_t alignment = 16;
  for (Value buffer : call.buffers) {
    int64_t offset = rt::offsetInFrame(*rt::offsetOf(buffer));
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

FailureOr<int64_t> CallList::kernelOf(const RuntimeCall &call, Operation *op) {
  if (!call.kernel)
    return -1;
  auto kernel = symbols.lookup<LLVM::LLVMFuncOp>(call.kernel.getAttr());
  if (!kernel)
    return op->emitError() << "launches " << call.kernel
                           << ", which is no llvm.func; run "
                              "convert-kernel-to-llvm first";
  bool isDevice = isDeviceKernel(kernel);
  if (isDevice && failed(checkAlignment(call, op)))
    return failure();
  return tables.kernel(isDevice ? deviceKernelSymbol(kernel.getName())
                                : kernel.getName().str());
}

/// Everything lies at a static offset of the arena or of a frame, views with an
/// index at a multiple of it after their own.
int64_t CallList::wordOf(Value buffer) {
  if (!buffer)
    return TSR_NO_BUFFER;
  Slot slot;
  int64_t element = rt::elementBytesOf(buffer);
  for (auto view = buffer.getDefiningOp<rt::ViewOp>(); view;
       view = view.getSource().getDefiningOp<rt::ViewOp>())
    if (Value index = view.getIndex())
      slot.emplace_back(CallArgument::Scalar, index.getAsOpaquePointer(),
                        static_cast<int64_t>(view.getStride()) * element);
  int64_t offset = *rt::offsetOf(buffer);
  if (int64_t frame = rt::frameOf(offset))
    slot.emplace_back(CallArgument::Frame, reinterpret_cast<void *>(frame), 1);
  return rt::offsetInFrame(offset) | slotOf(slot) << TSR_BUFFER_OFFSET_BITS;
}

void CallList::addArguments(const RuntimeCall &call) {
  for (auto [index, argument] : llvm::enumerate(call.arguments))
    if (argument.source != CallArgument::Constant)
      words.push_back(
          pack(index, slotOf({{argument.source,
                               argument.scalar.getAsOpaquePointer(), 1}})));
}

LogicalResult CallList::add(rt::RuntimeCallOpInterface op) {
  FailureOr<RuntimeCall> call = describeCall(op, mesh);
  if (failed(call) || failed(checkFrames(*call, op)))
    return failure();
  FailureOr<int64_t> kernel = kernelOf(*call, op);
  if (failed(kernel))
    return failure();
  SmallVector<int64_t> constants;
  int64_t computed = 0;
  for (const CallArgument &argument : call->arguments) {
    constants.push_back(argument.constant);
    computed += argument.source != CallArgument::Constant;
  }
  words.push_back(pack(call->entry, *kernel));
  words.push_back(pack(call->buffers.size(), constants.size()));
  words.push_back(pack(tables.arguments(constants), computed));
  for (Value buffer : call->buffers)
    words.push_back(wordOf(buffer));
  addArguments(*call);
  ++count;
  return success();
}

void CallList::emit(StatusFunction &function, Scalars &scalars,
                    int64_t firstOp) {
  LLVM::GlobalOp list = tables.list(words, count, firstOp);
  Value values = function.createTable(slots.size() + 1);
  function.store(function.constant(0), values, 0);
  SmallVector<const Slot *> inOrder(slots.size());
  for (const auto &[slot, index] : slots)
    inOrder[index - 1] = &slot;
  for (auto [index, slot] : llvm::enumerate(inOrder))
    function.store(codeOf(*slot, function, scalars), values, index + 1);
  OpBuilder &b = function.builder;
  Value run = function.field(offsetof(tsr_abi_frame, run), function.pointer);
  Value address = LLVM::AddressOfOp::create(b, function.loc, function.pointer,
                                            list.getSymName());
  auto type = LLVM::LLVMFunctionType::get(
      function.i32, {function.pointer, function.pointer, function.pointer});
  auto status =
      LLVM::CallOp::create(b, function.loc, type,
                           ValueRange{run, function.frame(), address, values});
  function.stopUnlessZero(status.getResult());
}
