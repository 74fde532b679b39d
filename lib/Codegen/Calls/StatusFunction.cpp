//===- StatusFunction.cpp - an LLVM function that stops at a status -------===//

#include "lib/Codegen/Calls/StatusFunction.h"

using namespace mlir;
using namespace tessera;

StatusFunction::StatusFunction(Operation *position, StringRef name, bool isTask)
    : builder(position), loc(position->getLoc()),
      pointer(LLVM::LLVMPointerType::get(builder.getContext())),
      i64(builder.getI64Type()), i32(builder.getI32Type()) {
  SmallVector<Type> parameters = {pointer};
  if (isTask)
    parameters.push_back(i64);
  function = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(i32, parameters));
  // A list of calls: nothing to optimize, and no pass may become quadratic.
  function.setOptimizeNone(true);
  function.setNoInline(true);
  Block *entry = function.addEntryBlock(builder);
  exit = builder.createBlock(&function.getBody(), function.getBody().end(),
                             {i32}, {loc});
  LLVM::ReturnOp::create(builder, loc, exit->getArgument(0));
  builder.setInsertionPointToEnd(entry);
}

Value StatusFunction::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i64, value);
}

Value StatusFunction::advance(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             constant(bytes));
}

Value StatusFunction::load(Value base, int64_t bytes, Type type) {
  return LLVM::LoadOp::create(builder, loc, type, advance(base, bytes));
}

Value StatusFunction::addressOf(LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(builder, loc, pointer, global.getSymName());
}

Value StatusFunction::placeAt(Value table, Value index, Type type) {
  return LLVM::GEPOp::create(builder, loc, pointer, type, table, index);
}

Value StatusFunction::loadAt(Value table, Value index, Type type) {
  return load(placeAt(table, index, type), 0, type);
}

Value StatusFunction::field(int64_t bytes, Type type) {
  Value &value = fields[bytes];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    value = load(frame(), bytes, type);
  }
  return value;
}

Value StatusFunction::loadIndex(LLVM::GlobalOp table, Value first,
                                Value index) {
  Type type = cast<LLVM::LLVMArrayType>(table.getType()).getElementType();
  Value row = placeAt(addressOf(table), first, type);
  return LLVM::ZExtOp::create(builder, loc, i64, loadAt(row, index, type));
}

void StatusFunction::store(Value value, Value table, int64_t index) {
  LLVM::StoreOp::create(builder, loc, value,
                        advance(table, index * sizeof(int64_t)));
}

Value StatusFunction::createTable(int64_t slots) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(builder, loc, pointer, i64, constant(slots));
}

void StatusFunction::stopUnlessZero(Value status) {
  Value zero = LLVM::ConstantOp::create(builder, loc, i32, 0);
  Value ok =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, zero);
  Block *here = builder.getInsertionBlock();
  Block *next = builder.createBlock(exit);
  builder.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(builder, loc, ok, next, ValueRange(), exit,
                         ValueRange(status));
  builder.setInsertionPointToEnd(next);
}

void StatusFunction::finish() {
  Value zero = LLVM::ConstantOp::create(builder, loc, i32, 0);
  LLVM::BrOp::create(builder, loc, ValueRange(zero), exit);
}
