//===- HostEmitter.cpp - code of tsr_program_step -------------------------===//

#include "lib/Codegen/Calls/HostEmitter.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

HostEmitter::HostEmitter(ModuleOp module, ArrayRef<func::FuncOp> steps)
    : steps(steps), mesh(dist::meshOf(module)), symbols(module),
      main(steps.front(), TSR_PROGRAM_STEP), program(&main),
      tables(main.function) {}

LogicalResult HostEmitter::emit() {
  for (func::FuncOp step : steps) {
    bool isStage = step->hasAttr(rt::RTDialect::kStageAttr);
    if (failed(isStage ? emitStage(step) : emitProgram(main, step)))
      return failure();
  }
  main.finish();
  tables.finish();
  for (func::FuncOp step : steps)
    step.erase();
  return success();
}

LogicalResult HostEmitter::emitProgram(StatusFunction &function,
                                       func::FuncOp step) {
  program = &function;
  return emitBlock(step.getBody().front(), Scalars(function, mesh));
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
                       "tsr_stage_" + std::to_string(number.getInt()));
  stage.function.setLinkage(LLVM::Linkage::Internal);
  if (failed(emitProgram(stage, step)))
    return failure();
  stage.finish();
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

LogicalResult HostEmitter::emitBlock(Block &block, Scalars scalars) {
  std::optional<CallList> list(std::in_place, mesh, symbols, tables);
  auto flush = [&] {
    if (list->size() > 0)
      list->emit(*program, scalars, nextOp);
    nextOp += list->size();
    list.emplace(mesh, symbols, tables);
  };
  for (Operation &op : block) {
    auto call = dyn_cast<rt::RuntimeCallOpInterface>(op);
    if (call && failed(list->add(call)))
      return failure();
    auto loop = dyn_cast<rt::LoopOp>(op);
    if (loop || list->isFull())
      flush();
    if (!loop)
      continue;
    if (failed(emitLoop(loop, scalars)))
      return failure();
  }
  flush();
  return success();
}

LogicalResult HostEmitter::emitLoop(rt::LoopOp loop, const Scalars &scalars) {
  OpBuilder &b = program->builder;
  Location loc = program->loc;
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(program->exit, {program->i64}, {loc});
  Block *body = b.createBlock(program->exit);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange(program->constant(0)), header);

  Value counter = header->getArgument(0);
  b.setInsertionPointToEnd(body);
  Scalars inside = scalars;
  inside.set(loop.getBody().getArgument(0), counter);
  if (failed(emitBlock(loop.getBody().front(), inside)))
    return failure();
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
