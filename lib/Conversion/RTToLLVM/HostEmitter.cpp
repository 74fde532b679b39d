//===- HostEmitter.cpp - code of tsr_program_step -------------------------===//

#include "HostEmitter.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

/// Calls in one function: few enough that LLVM's register allocator, which is
/// not linear in the blocks that a value lives through, does not matter.
static constexpr unsigned kCallsPerPart = 64;

HostEmitter::HostEmitter(ModuleOp module, func::FuncOp step)
    : step(step), mesh(dist::meshOf(step)), symbols(module),
      main(step, TSR_PROGRAM_STEP, 0), tables(main.function) {}

LogicalResult HostEmitter::emit() {
  if (failed(emitBlock(step.getBody().front())))
    return failure();
  main.finish();
  step.erase();
  return success();
}

LogicalResult HostEmitter::emitBlock(Block &block) {
  SmallVector<rt::RuntimeCallOpInterface> part;
  auto flush = [&] {
    LogicalResult result = part.empty() ? success() : emitPart(part);
    part.clear();
    return result;
  };
  for (Operation &op : block) {
    if (auto call = dyn_cast<rt::RuntimeCallOpInterface>(op))
      part.push_back(call);
    auto loop = dyn_cast<rt::LoopOp>(op);
    if ((loop || part.size() == kCallsPerPart) && failed(flush()))
      return failure();
    if (loop && failed(emitLoop(loop)))
      return failure();
  }
  return flush();
}

LogicalResult HostEmitter::emitPart(ArrayRef<rt::RuntimeCallOpInterface> ops) {
  StatusFunction part(main.function, "tsr_part_" + std::to_string(nextPart++),
                      counters.size());
  part.function.setLinkage(LLVM::Linkage::Internal);
  PartEmitter emitter(part, mesh, symbols, tables);
  for (rt::RuntimeCallOpInterface op : ops)
    if (failed(emitter.emit(op, nextOp++)))
      return failure();
  part.finish();
  SmallVector<Value> operands = {main.frame()};
  llvm::append_range(operands, counters);
  auto call =
      LLVM::CallOp::create(main.builder, main.loc, part.function, operands);
  main.stopUnlessZero(call.getResult());
  return success();
}

LogicalResult HostEmitter::emitLoop(rt::LoopOp loop) {
  OpBuilder &b = main.builder;
  Location loc = main.loc;
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(main.exit, {main.i64}, {loc});
  Block *body = b.createBlock(main.exit);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange(main.constant(0)), header);

  Value counter = header->getArgument(0);
  counters.push_back(counter);
  b.setInsertionPointToEnd(body);
  if (failed(emitBlock(loop.getBody().front())))
    return failure();
  counters.pop_back();
  Value next = LLVM::AddOp::create(b, loc, counter, main.constant(1));
  LLVM::BrOp::create(b, loc, ValueRange(next), header);

  Block *after = b.createBlock(main.exit);
  b.setInsertionPointToEnd(header);
  Value more = LLVM::ICmpOp::create(
      b, loc, LLVM::ICmpPredicate::slt, counter,
      main.constant(static_cast<int64_t>(loop.getCount())));
  LLVM::CondBrOp::create(b, loc, more, body, after);
  b.setInsertionPointToEnd(after);
  return success();
}
