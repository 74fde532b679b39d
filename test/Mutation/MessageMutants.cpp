//===- MessageMutants.cpp - changes of what stages send each other --------===//

#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

bool isMessage(Operation *op) { return isa<rt::SendOp, rt::ReceiveOp>(op); }

/// Leaves out a message: nothing is sent; what would have been received is 0.
void leaveOut(Operation *op) {
  if (op->getNumResults()) {
    OpBuilder b(op);
    Value zero = rt::ZeroOp::create(b, op->getLoc(), op->getResultTypes()[0]);
    op->getResult(0).replaceAllUsesWith(zero);
  }
  op->erase();
}

class MessageEnumeration {
public:
  explicit MessageEnumeration(ModuleOp program)
      : mesh(dist::meshOf(program)), ops(opsOf(program)) {}
  Mutants run();

private:
  void leftOut(Operation *op, unsigned number);
  void leftOutAtBothEnds(Operation *op, unsigned number);
  void elsewhere(Operation *op, unsigned number);
  void otherValue(Operation *op, unsigned number);
  void otherOrder(unsigned number, unsigned next);
  Mutant &add(const std::string &kind, Operation *op,
              std::function<void(ModuleOp)> apply) {
    mutants.push_back(
        {Stage::Lowered, kind, describe(op), "", "", true, std::move(apply)});
    return mutants.back();
  }

  dist::MeshAttr mesh;
  std::vector<Operation *> ops;
  Mutants mutants;
};

void MessageEnumeration::leftOut(Operation *op, unsigned number) {
  add("message left out at one end", op,
      [=](ModuleOp module) { leaveOut(opsOf(module)[number]); });
}

/// Leaves out the send and the receive of the message with this name.
void MessageEnumeration::leftOutAtBothEnds(Operation *op, unsigned number) {
  if (!isa<rt::SendOp>(op))
    return;
  for (auto [other, receive] : llvm::enumerate(ops))
    if (isa<rt::ReceiveOp>(receive) &&
        receive->getAttr(rt::kMessageAttr) == op->getAttr(rt::kMessageAttr))
      add("message left out at both ends", op, [=](ModuleOp module) {
        std::vector<Operation *> ops = opsOf(module);
        leaveOut(ops[number]);
        leaveOut(ops[other]);
      });
}

/// Sends to or receives from another stage, or ranks of another axis.
void MessageEnumeration::elsewhere(Operation *op, unsigned number) {
  auto axis = op->getAttrOfType<StringAttr>("axis");
  int64_t peer = op->getAttrOfType<IntegerAttr>("peer").getInt();
  for (int64_t other = 0; other < mesh.getSize(axis); ++other)
    if (other != peer)
      add("message to or from another stage", op, [=](ModuleOp module) {
        opsOf(module)[number]->setAttr(
            "peer", Builder(module.getContext()).getI64IntegerAttr(other));
      });
  for (StringAttr other : mesh.getAxes())
    if (other != axis && peer < mesh.getSize(other))
      add("message over another axis", op,
          [=, name = other.str()](ModuleOp module) {
            opsOf(module)[number]->setAttr(
                "axis", StringAttr::get(module.getContext(), name));
          });
}

/// The nearest earlier value of its type is sent instead.
void MessageEnumeration::otherValue(Operation *op, unsigned number) {
  if (!isa<rt::SendOp>(op))
    return;
  for (unsigned other = number; other-- > 0;) {
    if (ops[other]->getBlock() != op->getBlock())
      continue;
    for (OpResult result : ops[other]->getResults())
      if (result != op->getOperand(0) &&
          result.getType() == op->getOperand(0).getType()) {
        unsigned index = result.getResultNumber();
        add("message of another value", op, [=](ModuleOp module) {
          std::vector<Operation *> ops = opsOf(module);
          ops[number]->setOperand(0, ops[other]->getResult(index));
        });
        return;
      }
  }
}

/// The next message comes first, where values allow it: a receive before a
/// message that is made already, a send behind one.
void MessageEnumeration::otherOrder(unsigned number, unsigned next) {
  Mutant &mutant =
      add("messages in another order", ops[number], [=](ModuleOp module) {
        std::vector<Operation *> ops = opsOf(module);
        if (isa<rt::ReceiveOp>(ops[next]))
          ops[next]->moveBefore(ops[number]);
        else
          ops[number]->moveAfter(ops[next]);
      });
  mutant.mayBeRight = kOrderIsFree;
}

Mutants MessageEnumeration::run() {
  std::optional<unsigned> last;
  for (auto [number, op] : llvm::enumerate(ops)) {
    if (!isMessage(op))
      continue;
    leftOut(op, number);
    leftOutAtBothEnds(op, number);
    elsewhere(op, number);
    otherValue(op, number);
    bool isPair = last && ops[*last]->getBlock() == op->getBlock() &&
                  (isa<rt::ReceiveOp>(op) || isa<rt::SendOp>(ops[*last]));
    if (isPair)
      otherOrder(*last, number);
    last = number;
  }
  return std::move(mutants);
}

} // namespace

Mutants test::messageMutants(ModuleOp lowered) {
  return MessageEnumeration(lowered).run();
}
