//===- CollectiveMutants.cpp - changes of what ranks do together ----------===//
// Mutants of collectives, where types are gone. Messages of stages are in
// MessageMutants.cpp.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "test/Mutation/Mutant.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

class CollectiveEnumeration {
public:
  explicit CollectiveEnumeration(ModuleOp program)
      : mesh(dist::meshOf(program)), ops(opsOf(program)) {}
  Mutants run();

private:
  void deleted(Operation *op, unsigned number);
  void otherValue(Operation *op, unsigned number);
  void otherAxes(rt::CollectiveOpInterface op, unsigned number);
  void otherKind(rt::AllReduceOp op, unsigned number);
  void otherRoot(rt::BroadcastOp op, unsigned number);
  bool isSetLike(unsigned set, ArrayAttr axes) const;
  Mutant &add(const std::string &kind, Operation *op, const std::string &what,
              std::function<void(ModuleOp)> apply) {
    mutants.push_back({Stage::Lowered, kind, describe(op) + what, "", "", true,
                       std::move(apply)});
    return mutants.back();
  }

  dist::MeshAttr mesh;
  std::vector<Operation *> ops;
  Mutants mutants;
};

std::string nameOf(Operation *op) { return op->getName().stripDialect().str(); }

bool isShift(Operation *op) {
  auto reduce = dyn_cast<rt::AllReduceOp>(op);
  return reduce && reduce.getMaximum();
}

/// A shard or a gradient of a vector [heads, head size] of attention.
bool mayBeKeyBias(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return type.getRank() == 2 && nn::partOf(op->getLoc()).contains("attention");
}

int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns what a rank has without the others: its own elements, the first of
/// them if fewer are wanted, zeros if more are.
Value withoutOthers(Operation *op) {
  OpBuilder b(op);
  Value result = op->getResult(0);
  Value own = op->getNumOperands() ? op->getOperand(0) : Value();
  if (own && own.getType() == result.getType())
    return own;
  if (!own || elementsOf(own) < elementsOf(result))
    return rt::ZeroOp::create(b, op->getLoc(), result.getType());
  return rt::ViewOp::create(b, op->getLoc(), result.getType(), own, Value(),
                            b.getI64IntegerAttr(0), b.getI64IntegerAttr(0));
}

void CollectiveEnumeration::deleted(Operation *op, unsigned number) {
  add(nameOf(op) + " deleted, " + phaseOf(op), op, "", [=](ModuleOp module) {
    Operation *op = opsOf(module)[number];
    op->getResult(0).replaceAllUsesWith(withoutOthers(op));
    op->erase();
  }).mayBeRight = mayBeKeyBias(op) ? kKeyBias : "";
}

/// Reads the nearest earlier value of its type instead.
void CollectiveEnumeration::otherValue(Operation *op, unsigned number) {
  if (op->getNumOperands() == 0)
    return;
  for (unsigned other = number; other-- > 0;) {
    if (ops[other]->getBlock() != op->getBlock())
      continue;
    for (OpResult result : ops[other]->getResults()) {
      if (result == op->getOperand(0) ||
          result.getType() != op->getOperand(0).getType())
        continue;
      unsigned index = result.getResultNumber();
      bool isSamePart =
          nn::partOf(ops[other]->getLoc()) == nn::partOf(op->getLoc());
      add("collective of another value", op, "",
          [=](ModuleOp module) {
            std::vector<Operation *> ops = opsOf(module);
            ops[number]->setOperand(0, ops[other]->getResult(index));
          })
          .mayBeRight = isShift(op)        ? kShiftCancels
                        : isSamePart       ? kSameValue
                        : mayBeKeyBias(op) ? kKeyBias
                                           : "";
      return;
    }
  }
}

/// All-reduces go over any axes; what is cut only over as many ranks.
bool CollectiveEnumeration::isSetLike(unsigned set, ArrayAttr axes) const {
  int64_t ranks = 1, wanted = 1;
  for (auto [k, size] : llvm::enumerate(mesh.getSizes()))
    if (set >> k & 1)
      ranks *= size;
  for (Attribute axis : axes)
    wanted *= mesh.getSize(cast<StringAttr>(axis));
  return ranks == wanted;
}

/// Communicates over every other set of axes.
void CollectiveEnumeration::otherAxes(rt::CollectiveOpInterface op,
                                      unsigned number) {
  ArrayRef<StringAttr> axes = mesh.getAxes();
  for (unsigned set = 1; set < 1u << axes.size(); ++set) {
    std::vector<std::string> names;
    SmallVector<Attribute> attributes;
    for (auto [k, axis] : llvm::enumerate(axes))
      if (set >> k & 1) {
        names.push_back(axis.str());
        attributes.push_back(axis);
      }
    if (ArrayAttr::get(op.getContext(), attributes) == op.getAxes() ||
        (!isa<rt::AllReduceOp>(op) && !isSetLike(set, op.getAxes())))
      continue;
    bool coversAll = llvm::all_of(op.getAxes(), [&](Attribute axis) {
      return llvm::is_contained(attributes, axis);
    });
    add(nameOf(op) + " over other axes", op, " over " + llvm::join(names, ","),
        [=](ModuleOp module) {
          SmallVector<StringRef> axes(names.begin(), names.end());
          opsOf(module)[number]->setAttr(
              "axes", Builder(module.getContext()).getStrArrayAttr(axes));
        })
        .mayBeRight = mayBeKeyBias(op) ? kKeyBias : "";
    if (!isShift(op) || !coversAll)
      continue;
    // Ranks with other programs do not join in.
    auto step = op->getParentOfType<func::FuncOp>();
    bool isAlone = step->hasAttr(rt::RTDialect::kStageAttr);
    (isAlone ? mutants.back().mayBeRight : mutants.back().right) =
        kShiftCancels;
  }
}

/// A sum of exponentials beside candidates is by the largest logit alone.
bool returnsTotals(Operation *op) {
  auto ofProgram = op->getParentOfType<func::FuncOp>();
  return !ofProgram.getOps<rt::TopOp>().empty();
}

void CollectiveEnumeration::otherKind(rt::AllReduceOp op, unsigned number) {
  bool isMaximum = op.getMaximum();
  add(isMaximum ? "all_reduce of sums for maxima"
                : "all_reduce of maxima for sums",
      op, "",
      [=](ModuleOp module) {
        cast<rt::AllReduceOp>(opsOf(module)[number]).setMaximum(!isMaximum);
      })
      .right = isMaximum && !returnsTotals(op) ? kShiftCancels : "";
  if (mayBeKeyBias(op))
    mutants.back().mayBeRight = kKeyBias;
  if (!isMaximum && nn::isEvaluation(op->getParentOfType<func::FuncOp>()))
    mutants.back().mayBeRight = kNoneIsLarger;
}

void CollectiveEnumeration::otherRoot(rt::BroadcastOp op, unsigned number) {
  auto axis = cast<StringAttr>(op.getAxes()[0]);
  for (int64_t root = 0; root < mesh.getSize(axis); ++root)
    if (root != static_cast<int64_t>(op.getRoot()))
      add("broadcast from another stage", op, " from " + std::to_string(root),
          [=](ModuleOp module) {
            cast<rt::BroadcastOp>(opsOf(module)[number]).setRoot(root);
          });
}

Mutants CollectiveEnumeration::run() {
  for (auto [number, op] : llvm::enumerate(ops)) {
    auto collective = dyn_cast<rt::CollectiveOpInterface>(op);
    if (!collective)
      continue;
    deleted(op, number);
    otherValue(op, number);
    otherAxes(collective, number);
    if (auto reduce = dyn_cast<rt::AllReduceOp>(op))
      otherKind(reduce, number);
    if (auto broadcast = dyn_cast<rt::BroadcastOp>(op))
      otherRoot(broadcast, number);
  }
  return std::move(mutants);
}

} // namespace

Mutants test::collectiveMutants(ModuleOp lowered) {
  return CollectiveEnumeration(lowered).run();
}
