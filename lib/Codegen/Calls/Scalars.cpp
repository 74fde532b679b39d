//===- Scalars.cpp - integers that a program computes ---------------------===//

#include "lib/Codegen/Calls/Scalars.h"
#include "tessera/abi.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;

Value Scalars::codeOf(const CallArgument &argument) {
  switch (argument.source) {
  case CallArgument::Constant:
    return function.constant(argument.constant);
  case CallArgument::Scalar:
    return codeOf(argument.scalar);
  case CallArgument::Seed:
    return function.field(offsetof(tsr_abi_frame, seed), function.i64);
  case CallArgument::Step:
    return function.field(offsetof(tsr_abi_frame, step), function.i64);
  case CallArgument::Frame:
    return frameBegin(argument.constant);
  }
  llvm_unreachable("every source is handled");
}

void Scalars::setFrames(const FrameTable &table, Value ofMicroBatch) {
  frameTable = &table;
  microBatch = ofMicroBatch;
}

/// j, or from `first` on: first + (j - first) % values.
Value Scalars::placeInPeriod(rt::Period period) {
  OpBuilder &b = function.builder;
  Location loc = function.loc;
  Value first = function.constant(period.first);
  Value beyond = LLVM::SubOp::create(b, loc, microBatch, first);
  Value inPeriod =
      LLVM::URemOp::create(b, loc, beyond, function.constant(period.values));
  Value repeated = LLVM::AddOp::create(b, loc, first, inPeriod);
  Value isBefore =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, microBatch, first);
  return LLVM::SelectOp::create(b, loc, isBefore, microBatch, repeated);
}

Value Scalars::frameBegin(int64_t number) {
  Value &begin = frames[number];
  if (begin)
    return begin;
  const FrameTable::Row &row = frameTable->rows[number - 1];
  Value place =
      function.loadIndex(frameTable->numbers, function.constant(row.begin),
                         placeInPeriod(row.period));
  return begin = function.loadAt(function.addressOf(frameTable->offsets), place,
                                 function.i64);
}

Value Scalars::codeOf(Value value) {
  if (Value code = known.lookupOrNull(value))
    return code;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    codeOf(operand);
  TypeSwitch<Operation *>(op)
      .Case([&](rt::StepOp) {
        known.map(value,
                  function.field(offsetof(tsr_abi_frame, step), function.i64));
      })
      .Case([&](rt::SeedOp) {
        known.map(value,
                  function.field(offsetof(tsr_abi_frame, seed), function.i64));
      })
      .Case([&](rt::CoordOp coord) {
        Value all = function.field(offsetof(tsr_abi_frame, coordinates),
                                   function.pointer);
        int64_t axis = mesh.getIndex(coord.getAxis());
        known.map(value,
                  function.load(all, axis * sizeof(int64_t), function.i64));
      })
      .Case([&](rt::StreamKeyOp key) { known.map(value, streamKey(key)); })
      .Default(
          [&](Operation *arith) { function.builder.clone(*arith, known); });
  return known.lookup(value);
}

/// Emits tsr_abi_mix.
Value Scalars::mixed(Value x) {
  OpBuilder &b = function.builder;
  auto shifted = [&](int64_t by) -> Value {
    Value shift =
        LLVM::LShrOp::create(b, function.loc, x, function.constant(by));
    return LLVM::XOrOp::create(b, function.loc, x, shift);
  };
  auto times = [&](uint64_t factor) -> Value {
    return LLVM::MulOp::create(b, function.loc, x,
                               function.constant(static_cast<int64_t>(factor)));
  };
  x = shifted(30);
  x = times(0xBF58476D1CE4E5B9u);
  x = shifted(27);
  x = times(0x94D049BB133111EBu);
  return shifted(31);
}

/// tsr_abi_stream.
Value Scalars::streamKey(rt::StreamKeyOp op) {
  OpBuilder &b = function.builder;
  Location loc = function.loc;
  auto constant = [&](uint64_t value) {
    return function.constant(static_cast<int64_t>(value));
  };
  Value next =
      LLVM::AddOp::create(b, loc, codeOf(op.getStep()), function.constant(1));
  Value scaled =
      LLVM::MulOp::create(b, loc, next, constant(0x9E3779B97F4A7C15u));
  Value a = mixed(LLVM::AddOp::create(b, loc, codeOf(op.getSeed()), scaled));
  uint64_t stream = 0xD1B54A32D192ED03u * (op.getStream() + 1);
  return mixed(LLVM::XOrOp::create(b, loc, a, constant(stream)));
}
