//===- PlanMemory.cpp - gives every value an offset in one arena ----------===//

#include "lib/Memory/ArenaLayout.h"
#include "lib/Memory/MemoryRules.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Memory/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace tessera {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// What a buffer holds (docs/Artifact.md).
enum Kind { Weights, Optimizer, Inputs, Gradients, Activations, Workspace };
constexpr StringLiteral kKindNames[] = {
    "weights", "optimizer", "inputs", "gradients", "activations", "workspace"};

Kind kindOfArgument(func::FuncOp func, unsigned index) {
  if (func.getArgAttr(index, nn::NNDialect::kParamAttr))
    return Weights;
  auto role =
      func.getArgAttrOfType<StringAttr>(index, nn::NNDialect::kRoleAttr);
  if (!role)
    return Inputs;
  return llvm::StringSwitch<Kind>(role)
      .Case("master", Weights)
      .Cases({"moment1", "moment2"}, Optimizer)
      .Default(Inputs);
}

bool isGradient(Value value) {
  DictionaryAttr entry = resultEntry(value, RTDialect::kRoleAttr);
  auto role =
      entry ? entry.getAs<StringAttr>(nn::NNDialect::kRoleAttr) : StringAttr();
  return role && role == "gradient";
}

Kind kindOf(const Buffer &buffer) {
  if (llvm::any_of(buffer.members, isGradient))
    return Gradients;
  bool forward = false, readLater = false;
  for (Value member : buffer.members) {
    Operation *op = member.getDefiningOp();
    forward |= op && nn::isForward(op) && !isa<LoopOp>(op);
    for (Operation *user : member.getUsers())
      readLater |=
          nn::phaseOf(user) == nn::Phase::Backward || nn::isRecomputed(user);
  }
  return forward && readLater ? Activations : Workspace;
}

class Planner {
public:
  Planner(func::FuncOp func, const Buffers &buffers)
      : func(func), buffers(buffers), offsets(buffers.all().size()) {}

  void placeArguments();
  void placeTransients();
  void annotate();

private:
  int64_t offsetOf(Value value) const {
    Place place = buffers.placeOf(value);
    return offsets[place.buffer] + place.offset;
  }

  func::FuncOp func;
  const Buffers &buffers;
  SmallVector<int64_t> offsets; ///< Of buffers, in the arena.
  int64_t arena = 0;
  int64_t byKind[6] = {};
};

/// Parameters and moments, then inputs, each in order of the arguments.
void Planner::placeArguments() {
  for (Kind kind : {Weights, Optimizer, Inputs})
    for (BlockArgument argument : func.getArguments()) {
      if (kindOfArgument(func, argument.getArgNumber()) != kind)
        continue;
      offsets[buffers.placeOf(argument).buffer] = arena;
      int64_t bytes = llvm::alignTo(rt::bytesOf(argument), kAlignment);
      byKind[kind] += bytes;
      arena += bytes;
    }
}

void Planner::placeTransients() {
  SmallVector<unsigned> numbers;
  SmallVector<Extent> extents;
  for (auto [number, buffer] : llvm::enumerate(buffers.all())) {
    if (buffer.argument || buffer.members.empty())
      continue;
    numbers.push_back(number);
    extents.push_back({buffer.bytes, buffer.begin, buffer.end});
  }
  int64_t bytes = assignOffsets(extents);
  Peak peak = findPeak(extents);
  for (auto [number, extent] : llvm::zip(numbers, extents)) {
    offsets[number] = arena + extent.offset;
    Kind kind = kindOf(buffers.all()[number]);
    if (kind != Workspace && extent.begin <= peak.position &&
        extent.end >= peak.position)
      byKind[kind] += llvm::alignTo(extent.bytes, kAlignment);
  }
  byKind[Workspace] = bytes - byKind[Gradients] - byKind[Activations];
  arena += bytes;
}

void Planner::annotate() {
  Builder builder(func.getContext());
  for (BlockArgument argument : func.getArguments())
    func.setArgAttr(argument.getArgNumber(), RTDialect::kOffsetAttr,
                    builder.getI64IntegerAttr(offsetOf(argument)));
  func.getBody().walk([&](Operation *op) {
    SmallVector<int64_t> results;
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        results.push_back(offsetOf(result));
    if (!results.empty())
      op->setAttr(RTDialect::kOffsetsAttr,
                  builder.getDenseI64ArrayAttr(results));
  });
  NamedAttrList kinds;
  for (auto [name, bytes] : llvm::zip(kKindNames, byKind))
    kinds.set(name, builder.getI64IntegerAttr(bytes));
  Operation *owner = arenaOwner(func);
  owner->setAttr(RTDialect::kArenaAttr, builder.getI64IntegerAttr(arena));
  owner->setAttr(RTDialect::kArenaByKindAttr,
                 kinds.getDictionary(func.getContext()));
}

struct PlanMemoryPass : tessera::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> steps = findSteps(getOperation());
    if (failed(steps))
      return signalPassFailure();
    if (failed(failableParallelForEach(
            &getContext(), *steps,
            [&](func::FuncOp step) { return plan(step); })))
      signalPassFailure();
  }

  LogicalResult plan(func::FuncOp step);
};

LogicalResult PlanMemoryPass::plan(func::FuncOp step) {
  Liveness live(step);
  Buffers buffers(step, live);
  SmallVector<Conflict> conflicts = buffers.build();
  for (const Conflict &conflict : conflicts)
    reportConflict(conflict);
  if (!conflicts.empty())
    return failure();
  buffers.shareDyingInputs();
  Planner planner(step, buffers);
  planner.placeArguments();
  planner.placeTransients();
  planner.annotate();
  return success();
}

} // namespace
