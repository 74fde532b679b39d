//===- HostEmitter.cpp - code of an artifact's programs -------------------===//

#include "lib/Codegen/Calls/HostEmitter.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/abi.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace mlir;
using namespace tessera;

/// Returns the name of a program for generation; "" for another one.
static StringRef generationOf(func::FuncOp program) {
  auto name = program->getAttrOfType<StringAttr>(nn::kGenerationAttr);
  return name ? name.getValue() : StringRef();
}

/// Returns the symbol that the artifact exports of a program.
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

/// Returns the end of the names of a program's functions and tables: "_3" for
/// stage 3 of the step.
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

/// Emits: if (coordinates[axis] == stage) return tsr_stage(frame);
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
  auto count = static_cast<int64_t>(loop.getCount());
  return emitCounted(program->constant(count), [&](Value counter) {
    Scalars inside = scalars;
    inside.set(body.getArgument(0), counter);
    return emitOps(llvm::make_range(body.begin(), body.end()), inside);
  });
}

LogicalResult
HostEmitter::emitCounted(Value count,
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
  Value more =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, counter, count);
  LLVM::CondBrOp::create(b, loc, more, body, after);
  b.setInsertionPointToEnd(after);
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

FrameTable HostEmitter::emitFrames(func::FuncOp step) {
  FrameTable table;
  // Offsets are multiples of large powers of two, which a DenseMap would put
  // into few buckets.
  llvm::MapVector<int64_t, int32_t, std::map<int64_t, unsigned>> places;
  SmallVector<int32_t> numbers;
  for (int64_t frame = 1; frame <= rt::countFrames(step); ++frame) {
    ArrayRef<int64_t> own = rt::frameOffsets(step, frame);
    rt::Period period = rt::periodOf(own);
    table.rows.push_back({static_cast<int64_t>(numbers.size()), period});
    for (int64_t offset : own.take_front(period.stored()))
      numbers.push_back(
          places.try_emplace(offset, places.size()).first->second);
  }
  if (places.empty())
    return table;
  SmallVector<int64_t> offsets;
  for (auto [offset, number] : places)
    offsets.push_back(offset);
  std::string stage = suffixOf(step);
  table.offsets = tables.integers("tsr_places" + stage, offsets);
  table.numbers = tables.indices("tsr_frames" + stage, numbers);
  return table;
}

/// Status of a task, for a micro-batch.
FailureOr<LLVM::LLVMFuncOp> HostEmitter::emitTask(const rt::TaskOrder &order,
                                                  int64_t part, StringRef stage,
                                                  const FrameTable &frames) {
  StatusFunction task(main->function,
                      ("tsr_task" + stage + "_" + Twine(part)).str(),
                      /*isTask=*/true);
  task.function.setLinkage(LLVM::Linkage::Internal);
  StatusFunction *outside = std::exchange(program, &task);
  Scalars scalars(task, mesh);
  const rt::TaskOrder::Part &ops = order.parts()[part];
  if (rt::LoopOp loop = order.getLoop(); ops.inLoop) {
    scalars.set(loop.getBody().getArgument(0), task.microBatch());
    scalars.setFrames(frames, task.microBatch());
  }
  LogicalResult result =
      emitOps(llvm::make_range(ops.first(), ops.end()), scalars);
  task.finish();
  program = outside;
  if (failed(result))
    return failure();
  return task.function;
}

LogicalResult HostEmitter::emitTasks(func::FuncOp step,
                                     const rt::TaskOrder &order) {
  std::string stage = suffixOf(step);
  FrameTable frames = emitFrames(step);
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (size_t part = 0; part < order.parts().size(); ++part) {
    auto function = emitTask(order, static_cast<int64_t>(part), stage, frames);
    if (failed(function))
      return failure();
    functions.push_back(*function);
  }
  LLVM::GlobalOp list = tables.functions("tsr_tasks" + stage, functions);
  return emitRuns(rt::runsOf(order), stage, list);
}

/// Three words for each run: where its tasks begin among `parts`, how many they
/// are, and how often they run. Runs of equal tasks share them.
static SmallVector<int64_t> wordsOf(ArrayRef<rt::TaskRun> runs,
                                    SmallVector<int32_t> &parts) {
  SmallVector<int64_t> words;
  for (const rt::TaskRun &run : runs) {
    auto known = std::search(parts.begin(), parts.end(), run.parts.begin(),
                             run.parts.end());
    words.append({known - parts.begin(), static_cast<int64_t>(run.parts.size()),
                  run.times});
    if (known == parts.end())
      parts.append(run.parts.begin(), run.parts.end());
  }
  return words;
}

/// next[all tasks] = 0;
/// for (run : runs) for (run.times) for (part : run.parts)
///   if (status = tasks[part](frame, next[part]++)) return status;
LogicalResult HostEmitter::emitRuns(ArrayRef<rt::TaskRun> runs, StringRef stage,
                                    LLVM::GlobalOp tasks) {
  SmallVector<int32_t> parts;
  SmallVector<int64_t> words = wordsOf(runs, parts);
  LLVM::GlobalOp table = tables.integers(("tsr_runs" + stage).str(), words);
  LLVM::GlobalOp order = tables.indices(("tsr_order" + stage).str(), parts);
  int64_t count = cast<LLVM::LLVMArrayType>(tasks.getType()).getNumElements();
  Value next = program->createTable(count);
  for (int64_t part = 0; part < count; ++part)
    program->store(program->constant(0), next, part);
  auto runCount = static_cast<int64_t>(runs.size());
  return emitCounted(program->constant(runCount), [&](Value run) {
    Value row = program->placeAt(program->addressOf(table), run,
                                 LLVM::LLVMArrayType::get(program->i64, 3));
    Value begin = program->load(row, 0, program->i64);
    Value size = program->load(row, sizeof(int64_t), program->i64);
    Value times = program->load(row, 2 * sizeof(int64_t), program->i64);
    return emitCounted(times, [&](Value) {
      return emitCounted(size, [&](Value index) {
        emitEntry(program->loadIndex(order, begin, index), next, tasks);
        return success();
      });
    });
  });
}

void HostEmitter::emitEntry(Value part, Value next, LLVM::GlobalOp tasks) {
  OpBuilder &b = program->builder;
  Location loc = program->loc;
  Value turn = program->placeAt(next, part, program->i64);
  Value microBatch = program->load(turn, 0, program->i64);
  program->store(LLVM::AddOp::create(b, loc, microBatch, program->constant(1)),
                 turn, 0);
  Value task =
      program->loadAt(program->addressOf(tasks), part, program->pointer);
  auto type = LLVM::LLVMFunctionType::get(program->i32,
                                          {program->pointer, program->i64});
  auto status = LLVM::CallOp::create(
      b, loc, type, ValueRange{task, program->frame(), microBatch});
  program->stopUnlessZero(status.getResult());
}
