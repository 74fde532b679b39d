//===- InsertCopies.cpp - makes writing in place legal --------------------===//

#include "lib/Memory/Buffers.h"
#include "lib/Memory/MemoryRules.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/Memory/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_INSERTCOPIESPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

struct InsertCopiesPass
    : tessera::impl::InsertCopiesPassBase<InsertCopiesPass> {
  using InsertCopiesPassBase::InsertCopiesPassBase;
  /// A copy may need one more where values that a loop carries change places.
  static constexpr int kRounds = 8;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    if (failed(failableParallelForEach(
            &getContext(), *programs,
            [&](func::FuncOp step) { return insertCopies(step); })))
      signalPassFailure();
  }

  LogicalResult insertCopies(func::FuncOp step);

  void copyKeptValues(func::FuncOp func);
  void copyOperand(const Conflict &conflict);
};

LogicalResult InsertCopiesPass::insertCopies(func::FuncOp step) {
  copyKeptValues(step);
  for (int round = 0; round < kRounds; ++round) {
    Liveness live(step);
    SmallVector<Conflict> conflicts = Buffers(step, live).build();
    if (conflicts.empty())
      return success();
    for (const Conflict &conflict : conflicts)
      if (conflict.remedy == Conflict::None)
        return reportConflict(conflict), failure();
    for (const Conflict &conflict : conflicts)
      copyOperand(conflict);
  }
  return step.emitError() << "still needs copies after " << kRounds
                          << " rounds";
}

/// Returns whether a kept value needs a copy: one that its buffer outlives
/// anyway needs none.
bool needsSnapshot(OpResult result) {
  auto call = dyn_cast<RuntimeCallOpInterface>(result.getOwner());
  return !call || call.getTiedOperand(result.getResultNumber()) ||
         !layoutOf(result).isContiguous();
}

CopyOp createCopy(OpBuilder &builder, Operation *like, Value value) {
  auto copy = CopyOp::create(builder, like->getLoc(), value.getType(), value);
  nn::inheritPhase(copy, like);
  return copy;
}

void InsertCopiesPass::copyKeptValues(func::FuncOp func) {
  SmallVector<OpResult> kept;
  func.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (resultEntry(result, RTDialect::kKeepAttr) && needsSnapshot(result))
        kept.push_back(result);
  });
  for (OpResult result : kept) {
    OpBuilder builder(result.getOwner()->getContext());
    builder.setInsertionPointAfter(result.getOwner());
    CopyOp copy = createCopy(builder, result.getOwner(), result);
    for (StringRef name :
         {StringRef(RTDialect::kKeepAttr), StringRef(RTDialect::kRoleAttr)})
      if (DictionaryAttr entry = resultEntry(result, name))
        setResultEntry(cast<OpResult>(copy.getResult()), name, entry);
    setResultEntry(result, RTDialect::kKeepAttr,
                   DictionaryAttr::get(func.getContext()));
  }
}

void InsertCopiesPass::copyOperand(const Conflict &conflict) {
  Operation *op = conflict.operand->getOwner();
  OpBuilder builder(op);
  if (conflict.remedy == Conflict::CopyFirst) {
    Operation *first = op;
    while (isa_and_nonnull<CopyOp>(first->getPrevNode()))
      first = first->getPrevNode();
    builder.setInsertionPoint(first);
  }
  conflict.operand->set(createCopy(builder, op, conflict.operand->get()));
}

} // namespace
