//===- PlannedMutants.cpp - changes of a program with its memory plan -----===//

#include "tessera/Dialect/RT/RT.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

/// The buffer keeps what was there before: a view of it, which is no call.
static void skip(Operation *op) {
  OpBuilder b(op);
  Value any = op->getParentOfType<func::FuncOp>().getArgument(0);
  auto view = rt::ViewOp::create(b, op->getLoc(), op->getResult(0).getType(),
                                 any, Value(), b.getI64IntegerAttr(0),
                                 b.getI64IntegerAttr(0));
  view->setAttr(rt::RTDialect::kOffsetsAttr,
                op->getAttr(rt::RTDialect::kOffsetsAttr));
  op->replaceAllUsesWith(view);
  op->erase();
}

/// Makes readers read at once what the collective writes.
static void forgetWait(Operation *op) {
  op->replaceAllUsesWith(cast<rt::WaitOp>(op).getPending());
  op->erase();
}

/// Another collective's wait, of the same types.
static void swapWaits(Operation *op, Operation *other) {
  for (unsigned k = 0; k < op->getNumResults(); ++k) {
    Value first = op->getOperand(k), second = other->getOperand(k);
    op->setOperand(k, second);
    other->setOperand(k, first);
  }
}

Mutants test::plannedMutants(ModuleOp planned) {
  Mutants mutants;
  auto add = [&](const std::string &kind, Operation *op,
                 std::function<void(ModuleOp)> apply) {
    mutants.push_back(
        {Stage::Planned, kind, describe(op), "", "", true, std::move(apply)});
  };
  std::vector<Operation *> ops = opsOf(planned);
  std::optional<unsigned> last;
  for (auto [k, op] : llvm::enumerate(ops)) {
    unsigned number = k;
    if (isa<rt::ZeroOp, rt::CopyOp>(op))
      add(isa<rt::ZeroOp>(op) ? "buffer not zeroed" : "buffer not copied", op,
          [=](ModuleOp module) { skip(opsOf(module)[number]); });
    if (!isa<rt::WaitOp>(op))
      continue;
    add("collective not waited for", op,
        [=](ModuleOp module) { forgetWait(opsOf(module)[number]); });
    if (last && ops[*last]->getBlock() == op->getBlock() &&
        ops[*last]->getResultTypes() == op->getResultTypes())
      add("wait for another collective", op, [=, before = *last](ModuleOp m) {
        std::vector<Operation *> ops = opsOf(m);
        swapWaits(ops[before], ops[number]);
      });
    last = number;
  }
  return mutants;
}
