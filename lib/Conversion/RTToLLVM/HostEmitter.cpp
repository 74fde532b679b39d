//===- HostEmitter.cpp - code of tsr_program_step -------------------------===//

#include "HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/abi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

HostEmitter::HostEmitter(ModuleOp module, func::FuncOp step)
    : module(module), step(step), mesh(dist::meshOf(step)),
      builder(module.getContext()), loc(step.getLoc()),
      pointer(LLVM::LLVMPointerType::get(module.getContext())),
      i64(builder.getI64Type()), i32(builder.getI32Type()) {}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

LogicalResult HostEmitter::emit() {
  createFunction();
  if (failed(emitBlock(step.getBody().front())))
    return failure();
  finish();
  step.erase();
  return success();
}

void HostEmitter::createFunction() {
  builder.setInsertionPoint(step);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer});
  function = LLVM::LLVMFuncOp::create(builder, loc, TSR_PROGRAM_STEP, type);
  // A list of calls: nothing to optimize, and no pass may become quadratic.
  function.setOptimizeNone(true);
  function.setNoInline(true);
  Block *entry = function.addEntryBlock(builder);
  exit = builder.createBlock(&function.getBody(), function.getBody().end(),
                             {i32}, {loc});
  LLVM::ReturnOp::create(builder, loc, exit->getArgument(0));
  builder.setInsertionPointToEnd(entry);
  Value frame = entry->getArgument(0);
  api = loadField(frame, offsetof(tsr_abi_frame, api), pointer);
  context = loadField(frame, offsetof(tsr_abi_frame, context), pointer);
  arena = loadField(frame, offsetof(tsr_abi_frame, arena), pointer);
  stepNumber = loadField(frame, offsetof(tsr_abi_frame, step), i64);
  seed = loadField(frame, offsetof(tsr_abi_frame, seed), i64);
  coordinates = loadField(frame, offsetof(tsr_abi_frame, coordinates), pointer);
  int64_t buffers = 1, arguments = 1;
  step.walk([&](Operation *op) {
    buffers = std::max<int64_t>(buffers,
                                1 + op->getNumOperands() + op->getNumResults());
    arguments =
        std::max<int64_t>(arguments, TSR_LAUNCH_SCALARS + op->getNumOperands());
  });
  bufferSlots = createTable(buffers);
  argumentSlots = createTable(std::max<int64_t>(arguments, TSR_ATTENTION_ARGS));
}

void HostEmitter::finish() {
  Value zero = LLVM::ConstantOp::create(builder, loc, i32, 0);
  LLVM::BrOp::create(builder, loc, ValueRange(zero), exit);
}

Value HostEmitter::createTable(int64_t slots) {
  return LLVM::AllocaOp::create(builder, loc, pointer, i64, constant(slots));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value HostEmitter::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i64, value);
}

Value HostEmitter::advance(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             constant(bytes));
}

Value HostEmitter::loadField(Value base, int64_t bytes, Type type) {
  return LLVM::LoadOp::create(builder, loc, type, advance(base, bytes));
}

void HostEmitter::store(Value value, Value table, int64_t index) {
  LLVM::StoreOp::create(builder, loc, value,
                        advance(table, index * sizeof(int64_t)));
}

Value HostEmitter::pointerTo(Value tensor) {
  auto it = moving.find(tensor);
  return it != moving.end() ? it->second
                            : advance(arena, *rt::offsetOf(tensor));
}

static int64_t elementBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Views without an index lie at a static offset; the plan knows it.
void HostEmitter::emitView(rt::ViewOp view) {
  if (!view.getIndex() && !moving.contains(view.getSource()))
    return;
  int64_t element = elementBytes(view.getResult());
  Value base = advance(pointerTo(view.getSource()), view.getOffset() * element);
  if (view.getIndex()) {
    Value bytes = LLVM::MulOp::create(
        builder, loc, scalars.lookup(view.getIndex()),
        constant(static_cast<int64_t>(view.getStride()) * element));
    base = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                               bytes);
  }
  moving[view.getResult()] = base;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

FailureOr<Value> HostEmitter::bufferTable(const RuntimeCall &call,
                                          Operation *op) {
  int64_t next = 0;
  if (call.kernel) {
    auto kernel = module.lookupSymbol<LLVM::LLVMFuncOp>(call.kernel.getAttr());
    if (!kernel)
      return op->emitError() << "launches " << call.kernel
                             << ", which is no llvm.func; run "
                                "convert-kernel-to-llvm first";
    store(LLVM::AddressOfOp::create(builder, loc, kernel), bufferSlots, next++);
  }
  for (Value buffer : call.buffers) {
    Value address = buffer ? pointerTo(buffer)
                           : Value(LLVM::ZeroOp::create(builder, loc, pointer));
    store(address, bufferSlots, next++);
  }
  return bufferSlots;
}

/// Equal constant argument lists are one global.
Value HostEmitter::constantTable(ArrayRef<CallArgument> arguments) {
  SmallVector<int64_t> values;
  for (const CallArgument &argument : arguments)
    values.push_back(argument.constant);
  auto content = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(values.size())}, i64),
      ArrayRef<int64_t>(values));
  LLVM::GlobalOp &global = tables[content];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    global = LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(i64, values.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        "tsr_arguments_" + std::to_string(tables.size()), content);
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value HostEmitter::valueOf(const CallArgument &argument) {
  switch (argument.source) {
  case CallArgument::Constant:
    return constant(argument.constant);
  case CallArgument::Scalar:
    return scalars.lookup(argument.scalar);
  case CallArgument::Seed:
    return seed;
  case CallArgument::Step:
    return stepNumber;
  }
  llvm_unreachable("every source is handled");
}

Value HostEmitter::argumentTable(const RuntimeCall &call) {
  bool isConstant =
      llvm::all_of(call.arguments, [](const CallArgument &argument) {
        return argument.source == CallArgument::Constant;
      });
  if (isConstant)
    return constantTable(call.arguments);
  for (auto [index, argument] : llvm::enumerate(call.arguments))
    store(valueOf(argument), argumentSlots, index);
  return argumentSlots;
}

LogicalResult HostEmitter::emitCall(rt::RuntimeCallOpInterface op) {
  FailureOr<RuntimeCall> call = describeCall(op, mesh);
  if (failed(call))
    return failure();
  FailureOr<Value> buffers = bufferTable(*call, op);
  if (failed(buffers))
    return failure();
  Value arguments = argumentTable(*call);
  Value entry = loadField(api, call->entry * sizeof(void *), pointer);
  auto type =
      LLVM::LLVMFunctionType::get(i32, {pointer, i64, pointer, pointer});
  Value status =
      LLVM::CallOp::create(
          builder, loc, type,
          ValueRange{entry, context, constant(nextOp++), *buffers, arguments})
          .getResult();
  Value zero = LLVM::ConstantOp::create(builder, loc, i32, 0);
  Value ok =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, zero);
  Block *next = builder.createBlock(exit);
  builder.setInsertionPointToEnd(next->getPrevNode());
  LLVM::CondBrOp::create(builder, loc, ok, next, ValueRange(), exit,
                         ValueRange(status));
  builder.setInsertionPointToEnd(next);
  return success();
}

//===----------------------------------------------------------------------===//
// Structure and scalars
//===----------------------------------------------------------------------===//

LogicalResult HostEmitter::emitLoop(rt::LoopOp loop) {
  Block *before = builder.getInsertionBlock();
  Block *header = builder.createBlock(exit, {i64}, {loc});
  Block *body = builder.createBlock(exit);
  builder.setInsertionPointToEnd(before);
  LLVM::BrOp::create(builder, loc, ValueRange(constant(0)), header);

  Block &source = loop.getBody().front();
  Value iteration = header->getArgument(0);
  scalars.map(source.getArgument(0), iteration);
  builder.setInsertionPointToEnd(body);
  if (failed(emitBlock(source)))
    return failure();
  Value next = LLVM::AddOp::create(builder, loc, iteration, constant(1));
  LLVM::BrOp::create(builder, loc, ValueRange(next), header);

  Block *after = builder.createBlock(exit);
  builder.setInsertionPointToEnd(header);
  Value more = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                    iteration, constant(loop.getCount()));
  LLVM::CondBrOp::create(builder, loc, more, body, after);
  builder.setInsertionPointToEnd(after);
  return success();
}

FailureOr<Value> HostEmitter::coordinate(rt::CoordOp op) {
  int64_t axis = mesh ? mesh.getIndex(op.getAxis()) : -1;
  if (axis < 0)
    return op.emitError() << "names axis '" << op.getAxis()
                          << "', which the mesh does not have";
  return loadField(coordinates, axis * sizeof(int64_t), i64);
}

/// tsr_abi_mix.
Value HostEmitter::mixed(Value x) {
  auto shifted = [&](int64_t by) -> Value {
    Value shift = LLVM::LShrOp::create(builder, loc, x, constant(by));
    return LLVM::XOrOp::create(builder, loc, x, shift);
  };
  auto times = [&](uint64_t factor) -> Value {
    return LLVM::MulOp::create(builder, loc, x,
                               constant(static_cast<int64_t>(factor)));
  };
  x = shifted(30);
  x = times(0xBF58476D1CE4E5B9u);
  x = shifted(27);
  x = times(0x94D049BB133111EBu);
  return shifted(31);
}

/// tsr_abi_stream.
Value HostEmitter::streamKey(rt::StreamKeyOp op) {
  Value next = LLVM::AddOp::create(builder, loc, scalars.lookup(op.getStep()),
                                   constant(1));
  Value scaled = LLVM::MulOp::create(
      builder, loc, next, constant(static_cast<int64_t>(0x9E3779B97F4A7C15u)));
  Value a = mixed(
      LLVM::AddOp::create(builder, loc, scalars.lookup(op.getSeed()), scaled));
  uint64_t stream = 0xD1B54A32D192ED03u * (op.getStream() + 1);
  return mixed(LLVM::XOrOp::create(builder, loc, a,
                                   constant(static_cast<int64_t>(stream))));
}

LogicalResult HostEmitter::emitOp(Operation *op) {
  loc = op->getLoc();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](rt::RuntimeCallOpInterface call) { return emitCall(call); })
      .Case([&](rt::LoopOp loop) { return emitLoop(loop); })
      .Case([&](rt::ViewOp view) { return emitView(view), success(); })
      .Case([](rt::JoinOp) { return success(); })
      .Case([&](rt::StepOp s) {
        return scalars.map(s.getResult(), stepNumber), success();
      })
      .Case([&](rt::SeedOp s) {
        return scalars.map(s.getResult(), seed), success();
      })
      .Case([&](rt::StreamKeyOp key) {
        return scalars.map(key.getResult(), streamKey(key)), success();
      })
      .Case([&](rt::CoordOp coord) -> LogicalResult {
        FailureOr<Value> value = coordinate(coord);
        if (failed(value))
          return failure();
        return scalars.map(coord.getResult(), *value), success();
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
          return op->emitError() << "has no host code";
        return builder.clone(*op, scalars), success();
      });
}

LogicalResult HostEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  return success();
}
