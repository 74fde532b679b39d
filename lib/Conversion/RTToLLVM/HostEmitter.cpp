//===- HostEmitter.cpp - code of tsr_program_step -------------------------===//

#include "HostEmitter.h"
#include "tessera/Dialect/RT/Program.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

/// Calls in one function: few enough that LLVM's register allocator, which is
/// not linear in the blocks that a value lives through, does not matter.
static constexpr unsigned kCallsPerPart = 64;

HostEmitter::HostEmitter(ModuleOp module, ArrayRef<func::FuncOp> steps)
    : steps(steps), mesh(dist::meshOf(module)), symbols(module),
      main(steps.front(), TSR_PROGRAM_STEP, 0), program(&main),
      tables(main.function) {}

LogicalResult HostEmitter::emit() {
  for (func::FuncOp step : steps) {
    bool isStage = step->hasAttr(rt::RTDialect::kStageAttr);
    if (failed(isStage ? emitStage(step) : emitBlock(step.getBody().front())))
      return failure();
  }
  main.finish();
  for (func::FuncOp step : steps)
    step.erase();
  return success();
}

/// if (coordinates[axis] == stage) return tsr_stage(frame);
LogicalResult HostEmitter::emitStage(func::FuncOp step) {
  auto number = step->getAttrOfType<IntegerAttr>(rt::RTDialect::kStageAttr);
  StringRef name = rt::stageAxisOf(step);
  int64_t axis = mesh ? mesh.getIndex(name) : -1;
  if (axis < 0)
    return step.emitError() << "is the program of a stage, but the mesh has no "
                            << "axis '" << name << "'";
  StatusFunction stage(main.function,
                       "tsr_stage_" + std::to_string(number.getInt()), 0);
  stage.function.setLinkage(LLVM::Linkage::Internal);
  program = &stage;
  if (failed(emitBlock(step.getBody().front())))
    return failure();
  stage.finish();
  program = &main;
  OpBuilder &b = main.builder;
  Location loc = main.loc;
  Value all = main.field(offsetof(tsr_abi_frame, coordinates), main.pointer);
  Value own = main.load(all, axis * sizeof(int64_t), main.i64);
  Value isOwn = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, own,
                                     main.constant(number.getInt()));
  Block *here = b.getInsertionBlock();
  Block *run = b.createBlock(main.exit), *next = b.createBlock(main.exit);
  b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(b, loc, isOwn, run, next);
  b.setInsertionPointToEnd(run);
  auto call =
      LLVM::CallOp::create(b, loc, stage.function, ValueRange(main.frame()));
  LLVM::BrOp::create(b, loc, call.getResults(), main.exit);
  b.setInsertionPointToEnd(next);
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
  SmallVector<Value> operands = {program->frame()};
  llvm::append_range(operands, counters);
  auto call = LLVM::CallOp::create(program->builder, program->loc,
                                   part.function, operands);
  program->stopUnlessZero(call.getResult());
  return success();
}

LogicalResult HostEmitter::emitLoop(rt::LoopOp loop) {
  OpBuilder &b = program->builder;
  Location loc = program->loc;
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(program->exit, {program->i64}, {loc});
  Block *body = b.createBlock(program->exit);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange(program->constant(0)), header);

  Value counter = header->getArgument(0);
  counters.push_back(counter);
  b.setInsertionPointToEnd(body);
  if (failed(emitBlock(loop.getBody().front())))
    return failure();
  counters.pop_back();
  Value next = LLVM::AddOp::create(b, loc, counter, program->constant(1));
  LLVM::BrOp::create(b, loc, ValueRange(next), header);

  Block *after = b.createBlock(program->exit);
  b.setInsertionPointToEnd(header);
  Value more = LLVM::ICmpOp::create(
      b, loc, LLVM::ICmpPredicate::slt, counter,
      program->constant(static_cast<int64_t>(loop.getCount())));
  LLVM::CondBrOp::create(b, loc, more, body, after);
  b.setInsertionPointToEnd(after);
  return success();
}
