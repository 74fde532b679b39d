//===- HostEmitter.cpp - code of an artifact's programs -------------------===//

#include "lib/Codegen/Calls/HostEmitter.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tessera;

/// Of a program for generation; "" of another one.
static StringRef generationOf(func::FuncOp program) {
  auto name = program->getAttrOfType<StringAttr>(nn::kGenerationAttr);
  return name ? name.getValue() : StringRef();
}

/// What the artifact exports of a program.
static StringRef symbolOf(func::FuncOp program) {
  if (StringRef name = generationOf(program); !name.empty())
    return llvm::StringSwitch<StringRef>(name)
        .Case(nn::kDecodeName, TSR_PROGRAM_DECODE)
        .Case(nn::kMixedName, TSR_PROGRAM_MIXED)
        .Case(nn::kScoreName, TSR_PROGRAM_SCORE)
        .Case(nn::kEncodeName, TSR_PROGRAM_ENCODE);
  return nn::isEvaluation(program) ? TSR_PROGRAM_EVALUATION : TSR_PROGRAM_STEP;
}

HostEmitter::HostEmitter(ModuleOp module, ArrayRef<func::FuncOp> programs)
    : programs(programs), mesh(dist::meshOf(module)), symbols(module),
      step(programs.front(), symbolOf(programs.front())), main(&step),
      program(&step), tables(step.function) {}

LogicalResult HostEmitter::emit() {
  SmallVector<SmallVector<func::FuncOp>> groups = nn::groupPrograms(programs);
  if (failed(emitFunction(step, groups.front())))
    return failure();
  for (ArrayRef<func::FuncOp> group : llvm::drop_begin(groups)) {
    StatusFunction other(group.front(), symbolOf(group.front()));
    if (failed(emitFunction(other, group)))
      return failure();
  }
  tables.finish();
  for (func::FuncOp each : programs)
    each.erase();
  return success();
}

LogicalResult HostEmitter::emitFunction(StatusFunction &function,
                                        ArrayRef<func::FuncOp> stages) {
  main = &function;
  for (func::FuncOp stage : stages) {
    bool isStage = stage->hasAttr(rt::RTDialect::kStageAttr);
    if (failed(isStage ? emitStage(stage) : emitProgram(function, stage)))
      return failure();
  }
  function.finish();
  return success();
}

/// Of the functions and tables of a program: "_3" of stage 3 of the step.
static std::string suffixOf(func::FuncOp program) {
  std::string suffix;
  if (nn::isBeside(program))
    suffix = nn::isEvaluation(program) ? "_evaluation"
                                       : "_" + generationOf(program).str();
  auto stage = program->getAttrOfType<IntegerAttr>(rt::RTDialect::kStageAttr);
  return stage ? suffix + "_" + std::to_string(stage.getInt()) : suffix;
}

LogicalResult HostEmitter::emitProgram(StatusFunction &function,
                                       func::FuncOp step) {
  program = &function;
  Block &body = step.getBody().front();
  FailureOr<std::optional<rt::TaskOrder>> order = rt::TaskOrder::of(step);
  if (failed(order))
    return failure();
  if (!*order)
    return emitOps(llvm::make_range(body.begin(), body.end()),
                   Scalars(function, mesh));
  rt::LoopOp loop = (*order)->getLoop();
  rt::TaskOp first = (*order)->parts().front().begin;
  Operation *begin = loop ? loop.getOperation() : first.getOperation();
  Block::iterator end = (*order)->parts().back().end();
  return success(
      succeeded(emitOps(llvm::make_range(body.begin(), begin->getIterator()),
                        Scalars(function, mesh))) &&
      succeeded(emitTasks(step, **order)) &&
      succeeded(
          emitOps(llvm::make_range(end, body.end()), Scalars(function, mesh))));
}

/// if (coordinates[axis] == stage) return tsr_stage(frame);
LogicalResult HostEmitter::emitStage(func::FuncOp step) {
  auto number = step->getAttrOfType<IntegerAttr>(rt::RTDialect::kStageAttr);
  StringRef name = rt::stageAxisOf(step);
  int64_t axis = mesh ? mesh.getIndex(name) : -1;
  if (axis < 0)
    return step.emitError() << "is the program of a stage, but the mesh has no "
                            << "axis '" << name << "'";
  StatusFunction stage(main->function, "tsr_stage" + suffixOf(step));
  stage.function.setLinkage(LLVM::Linkage::Internal);
  if (failed(emitProgram(stage, step)))
    return failure();
  stage.finish();
  OpBuilder &b = main->builder;
  Location loc = main->loc;
  Value all = main->field(offsetof(tsr_abi_frame, coordinates), main->pointer);
  Value own = main->load(all, axis * sizeof(int64_t), main->i64);
  Value isOwn = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, own,
                                     main->constant(number.getInt()));
  Block *here = b.getInsertionBlock();
  Block *run = b.createBlock(main->exit), *next = b.createBlock(main->exit);
  b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(b, loc, isOwn, run, next);
  b.setInsertionPointToEnd(run);
  auto call =
      LLVM::CallOp::create(b, loc, stage.function, ValueRange(main->frame()));
  LLVM::BrOp::create(b, loc, call.getResults(), main->exit);
  b.setInsertionPointToEnd(next);
  return success();
}

LogicalResult HostEmitter::emitOps(Ops ops, Scalars scalars) {
  std::optional<CallList> list(std::in_place, mesh, symbols, tables);
  auto flush = [&] {
    if (list->size() > 0)
      list->emit(*program, scalars, nextOp);
    nextOp += list->size();
    list.emplace(mesh, symbols, tables);
  };
  for (Operation &op : ops) {
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
  Block &body = loop.getBody().front();
  return emitCounted(static_cast<int64_t>(loop.getCount()), [&](Value counter) {
    Scalars inside = scalars;
    inside.set(body.getArgument(0), counter);
    return emitOps(llvm::make_range(body.begin(), body.end()), inside);
  });
}

LogicalResult
HostEmitter::emitCounted(int64_t count,
                         llvm::function_ref<LogicalResult(Value)> emitBody) {
  OpBuilder &b = program->builder;
  Location loc = program->loc;
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(program->exit, {program->i64}, {loc});
  Block *body = b.createBlock(program->exit);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange(program->constant(0)), header);

  Value counter = header->getArgument(0);
  b.setInsertionPointToEnd(body);
  if (failed(emitBody(counter)))
    return failure();
  Value next = LLVM::AddOp::create(b, loc, counter, program->constant(1));
  LLVM::BrOp::create(b, loc, ValueRange(next), header);

  Block *after = b.createBlock(program->exit);
  b.setInsertionPointToEnd(header);
  Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, counter,
                                    program->constant(count));
  LLVM::CondBrOp::create(b, loc, more, body, after);
  b.setInsertionPointToEnd(after);
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Status of a task, for a micro-batch.
FailureOr<LLVM::LLVMFuncOp> HostEmitter::emitTask(const rt::TaskOrder &order,
                                                  int64_t part, StringRef stage,
                                                  LLVM::GlobalOp frames) {
  StatusFunction task(main->function,
                      ("tsr_task" + stage + "_" + Twine(part)).str(),
                      /*isTask=*/true);
  task.function.setLinkage(LLVM::Linkage::Internal);
  StatusFunction *outside = std::exchange(program, &task);
  Scalars scalars(task, mesh);
  const rt::TaskOrder::Part &ops = order.parts()[part];
  if (rt::LoopOp loop = order.getLoop(); ops.inLoop) {
    scalars.set(loop.getBody().getArgument(0), task.microBatch());
    if (frames)
      scalars.setFrames(LLVM::AddressOfOp::create(task.builder, task.loc,
                                                  task.pointer,
                                                  frames.getSymName()),
                        task.microBatch(), order.microBatchesOfLoop());
  }
  LogicalResult result =
      emitOps(llvm::make_range(ops.first(), ops.end()), scalars);
  task.finish();
  program = outside;
  if (failed(result))
    return failure();
  return task.function;
}

/// An entry of the order is a word: the part, and above it the micro-batch.
static constexpr int kPartBits = 14;
static constexpr int64_t kMaximalMicroBatch = (1 << (31 - kPartBits)) - 1;

/// for (entry : order) if (status = tasks[entry.task](frame, entry.microBatch))
///   return status;
LogicalResult HostEmitter::emitTasks(func::FuncOp step,
                                     const rt::TaskOrder &order) {
  std::string stage = suffixOf(step);
  if (order.microBatchesOfLoop() > kMaximalMicroBatch ||
      order.parts().size() >= 1 << kPartBits)
    return step.emitError()
           << "has " << order.parts().size() << " tasks of "
           << order.microBatchesOfLoop() + 1 << " micro-batches; use at most "
           << (1 << kPartBits) - 1 << " of " << kMaximalMicroBatch + 1;
  SmallVector<int64_t> offsets;
  SmallVector<int32_t> entries;
  for (int64_t frame = 1; frame <= rt::countFrames(step); ++frame)
    llvm::append_range(offsets, rt::frameOffsets(step, frame));
  LLVM::GlobalOp frames;
  if (!offsets.empty())
    frames = tables.integers("tsr_frames" + stage, offsets);
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (size_t part = 0; part < order.parts().size(); ++part) {
    auto function = emitTask(order, static_cast<int64_t>(part), stage, frames);
    if (failed(function))
      return failure();
    functions.push_back(*function);
  }
  for (rt::TaskOrder::Entry entry : order.entries())
    entries.push_back(
        static_cast<int32_t>(entry.microBatch << kPartBits | entry.part));
  LLVM::GlobalOp list = tables.words("tsr_order" + stage, entries);
  LLVM::GlobalOp tasks = tables.functions("tsr_tasks" + stage, functions);
  return emitCounted(static_cast<int64_t>(entries.size()), [&](Value counter) {
    emitEntry(list, tasks, counter);
    return success();
  });
}

void HostEmitter::emitEntry(LLVM::GlobalOp list, LLVM::GlobalOp tasks,
                            Value counter) {
  OpBuilder &b = program->builder;
  Location loc = program->loc;
  auto addressOf = [&](LLVM::GlobalOp global) -> Value {
    return LLVM::AddressOfOp::create(b, loc, program->pointer,
                                     global.getSymName());
  };
  Value word = program->loadAt(addressOf(list), counter, program->i32);
  Value entry = LLVM::ZExtOp::create(b, loc, program->i64, word);
  Value part = LLVM::AndOp::create(b, loc, entry,
                                   program->constant((1 << kPartBits) - 1));
  Value microBatch =
      LLVM::LShrOp::create(b, loc, entry, program->constant(kPartBits));
  Value task = program->loadAt(addressOf(tasks), part, program->pointer);
  auto type = LLVM::LLVMFunctionType::get(program->i32,
                                          {program->pointer, program->i64});
  auto status = LLVM::CallOp::create(
      b, loc, type, ValueRange{task, program->frame(), microBatch});
  program->stopUnlessZero(status.getResult());
}
