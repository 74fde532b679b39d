//===- KernelGroups.cpp - which ops share a kernel ------------------------===//

#include "KernelGroups.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Shortest row, if there are that many elements, of a kernel whose ops leave
/// the split open: long enough for vectors, short enough to share rows out.
constexpr int64_t kFreeColumns = 512;

class Grouping {
public:
  std::vector<std::unique_ptr<KernelGroup>> run(Block &block);

private:
  bool feedsColumnsOnly(Operation *op);
  void visit(Operation *op);
  bool tryJoin(KernelGroup &group, const KernelMember &member);
  bool fits(KernelGroup &group, KernelMember &member);
  void start(KernelMember member);
  void add(KernelGroup &group, const KernelMember &member);
  void closeReadGroups(Operation *op, KernelGroup *except);
  void mergeReadGroups(Operation *op, KernelGroup &into);

  std::vector<std::unique_ptr<KernelGroup>> groups;
  /// Groups that may still grow, oldest first.
  SmallVector<KernelGroup *> open;
  DenseMap<Operation *, bool> columnOnly;
};

bool isBig(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() > 1;
}

/// Elementwise ops that only column reductions read are computed there, again
/// and again, instead of being stored.
bool Grouping::feedsColumnsOnly(Operation *op) {
  auto [it, isNew] = columnOnly.try_emplace(op, false);
  if (!isNew)
    return it->second;
  std::optional<KernelSpace> space = kernelSpace(op);
  if (!space || space->factors.size() < 2)
    return false;
  bool only = false;
  if (space->reduction == KernelSpace::Rows)
    only = true;
  else if (space->reduction == KernelSpace::None && !op->use_empty() &&
           !op->getAttr("rt.keep") && space->split > 0)
    only = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return user->getBlock() == op->getBlock() && feedsColumnsOnly(user);
    });
  columnOnly[op] = only;
  return only;
}

/// Sets what the member would be in the group; false if it does not fit.
bool Grouping::fits(KernelGroup &group, KernelMember &member) {
  const KernelSpace &space = member.space;
  bool column = feedsColumnsOnly(member.op);
  if (column != (group.schedule == KernelGroup::Column))
    return false;
  if (space.split >= 0) {
    bool same = space.rows() == group.rows && space.columns() == group.columns;
    return same ||
           (group.free && space.elements() == group.rows * group.columns);
  }
  bool readsRow = llvm::any_of(member.op->getOperands(), [&](Value v) {
    return group.produced.contains(v) &&
           cast<RankedTensorType>(v.getType()).getNumElements() == group.rows;
  });
  if (space.elements() == group.rows && readsRow) {
    member.perRow = true;
    return true;
  }
  return space.elements() == group.rows * group.columns && group.columns > 1;
}

bool Grouping::tryJoin(KernelGroup &group, const KernelMember &candidate) {
  KernelMember member = candidate;
  bool related = llvm::any_of(member.op->getOperands(), [&](Value v) {
    return isBig(v) && (group.produced.contains(v) || group.read.contains(v));
  });
  if (!related || !fits(group, member))
    return false;
  if (member.space.split >= 0 && group.free) {
    group.rows = member.space.rows();
    group.columns = member.space.columns();
    group.free = false;
  }
  add(group, member);
  return true;
}

void Grouping::add(KernelGroup &group, const KernelMember &member) {
  group.members.push_back(member);
  for (Value operand : member.op->getOperands())
    group.read.insert(operand);
  for (Value result : member.op->getResults())
    group.produced.insert(result);
}

void Grouping::start(KernelMember member) {
  auto group = std::make_unique<KernelGroup>();
  KernelSpace &space = member.space;
  if (feedsColumnsOnly(member.op))
    group->schedule = KernelGroup::Column;
  if (space.split >= 0) {
    group->rows = space.rows();
    group->columns = space.columns();
  } else if (space.elements() == 1) {
    member.perRow = true;
  } else {
    int64_t columns = 1;
    for (int64_t size : llvm::reverse(space.sizes))
      if (columns < kFreeColumns)
        columns *= size;
    group->free = true;
    group->columns = columns;
    group->rows = space.elements() / columns;
  }
  add(*group, member);
  open.push_back(group.get());
  groups.push_back(std::move(group));
}

void Grouping::closeReadGroups(Operation *op, KernelGroup *except) {
  llvm::erase_if(open, [&](KernelGroup *group) {
    bool reads =
        group != except && llvm::any_of(op->getOperands(), [&](Value v) {
          return group->produced.contains(v);
        });
    return reads;
  });
  // Ops with regions read what their bodies read.
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      closeReadGroups(&inner, except);
}

/// Groups over the same rows and columns that `op`, a member of `into`, reads:
/// nothing else has read them, so they can run where `op` stands.
void Grouping::mergeReadGroups(Operation *op, KernelGroup &into) {
  for (KernelGroup *&group : open) {
    bool reads =
        group != &into && llvm::any_of(op->getOperands(), [&](Value v) {
          return group->produced.contains(v);
        });
    bool same = group->schedule == into.schedule && group->rows == into.rows &&
                group->columns == into.columns && !group->free;
    if (!reads || !same)
      continue;
    llvm::append_range(into.members, group->members);
    into.produced.insert(group->produced.begin(), group->produced.end());
    into.read.insert(group->read.begin(), group->read.end());
    group->members.clear();
    group = nullptr;
  }
  llvm::erase(open, nullptr);
  llvm::stable_sort(into.members, [](const auto &a, const auto &b) {
    return a.op->isBeforeInBlock(b.op);
  });
}

void Grouping::visit(Operation *op) {
  std::optional<KernelSpace> space = kernelSpace(op);
  if (!space)
    return closeReadGroups(op, nullptr);
  KernelMember member{op, *space};
  for (KernelGroup *group : llvm::reverse(open))
    if (tryJoin(*group, member)) {
      mergeReadGroups(op, *group);
      return closeReadGroups(op, group);
    }
  closeReadGroups(op, nullptr);
  start(member);
}

std::vector<std::unique_ptr<KernelGroup>> Grouping::run(Block &block) {
  for (Operation &op : block)
    visit(&op);
  llvm::erase_if(groups, [](auto &group) { return group->members.empty(); });
  return std::move(groups);
}

} // namespace

std::vector<std::unique_ptr<KernelGroup>> tessera::formGroups(Block &block) {
  return Grouping().run(block);
}
