//===- KernelGroups.cpp - which ops share a kernel ------------------------===//

#include "lib/Lower/Kernels/KernelGroups.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/TaskOrder.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Shortest row, if there are that many elements, of a kernel whose ops leave
/// the split open: long enough for vectors, short enough to share rows out.
constexpr int64_t kFreeColumns = 512;
/// Longest row of a kernel that reduces along columns too: a thread keeps the
/// sums of its columns in registers.
constexpr int64_t kMostReducedColumns = 4096;

class Grouping {
public:
  explicit Grouping(bool reducesColumns) : reducesColumns(reducesColumns) {}
  std::vector<std::unique_ptr<KernelGroup>> run(Block &block);

private:
  bool feedsColumnsOnly(Operation *op);
  bool readsMadeTable(const KernelMember &member);
  void visit(Operation *op);
  SmallVector<KernelGroup *> candidates(Operation *op);
  bool tryJoin(KernelGroup &group, const KernelMember &member);
  bool fits(KernelGroup &group, KernelMember &member);
  KernelGroup &start(KernelMember member);
  void add(KernelGroup &group, const KernelMember &member);
  void closeReadGroups(Operation *op, KernelGroup *except);
  void closeAll();
  KernelGroup &join(Operation *op, const KernelMember &member);
  bool mayTake(const KernelGroup &rows, const KernelGroup &columns);
  KernelGroup *rowsOf(const KernelGroup &columns);
  KernelGroup &mergeIntoRows(KernelGroup &columns);
  void mergeReadGroups(Operation *op, KernelGroup &into);

  bool reducesColumns;
  std::vector<std::unique_ptr<KernelGroup>> groups;
  /// The open group that makes a value, and those that read it. Groups are
  /// found through values, so that time stays linear in the program.
  DenseMap<Value, KernelGroup *> makers;
  DenseMap<Value, SmallVector<KernelGroup *, 2>> readers;
  DenseMap<Operation *, bool> columnOnly;
};

bool isBig(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() > 1;
}

bool reducesRows(Value value) {
  Operation *op = value.getDefiningOp();
  std::optional<KernelSpace> space = op ? kernelSpace(op) : std::nullopt;
  return space && space->reduction == KernelSpace::Rows;
}

/// Returns whether the op reads a reduction along columns of the group.
bool readsColumnReduction(Operation *op, const KernelGroup &group) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return group.produced.contains(operand) && reducesRows(operand);
  });
}

/// Returns whether only column reductions read the result of an elementwise op:
/// each of their kernels computes it instead of loading it.
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
           !op->getAttr("rt.keep") && space->split != 0)
    only = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return user->getBlock() == op->getBlock() && feedsColumnsOnly(user);
    });
  columnOnly[op] = only;
  return only;
}

Attribute microBatchOf(Operation *op) {
  return op->getAttr(rt::RTDialect::kMicroBatchAttr);
}

bool isOfOther(Attribute microBatch, const KernelGroup &group) {
  return microBatch && group.microBatch && microBatch != group.microBatch;
}

/// Returns whether the member reduces, along rows of one element, a value that
/// the group has made. Such a value may be one number per row, without a row to
/// reduce.
bool reducesMadeRows(const KernelMember &member, const KernelGroup &group) {
  return group.columns == 1 && member.space.reduction == KernelSpace::Columns &&
         llvm::any_of(member.op->getOperands(), [&](Value operand) {
           return group.produced.contains(operand);
         });
}

/// Sets what the member would be in the group; false if it does not fit.
bool Grouping::fits(KernelGroup &group, KernelMember &member) {
  const KernelSpace &space = member.space;
  bool column = feedsColumnsOnly(member.op);
  if (column != (group.schedule == KernelGroup::Column) ||
      isOfOther(microBatchOf(member.op), group) ||
      reducesMadeRows(member, group))
    return false;
  if (group.schedule == KernelGroup::Both &&
      readsColumnReduction(member.op, group))
    return false;
  if (space.split >= 0) {
    bool same = space.rows() == group.rows && space.columns() == group.columns;
    return same ||
           (group.free && space.elements() == group.rows * group.columns);
  }
  // With one column a value of as many elements as rows may be a full one.
  bool hasRows = group.columns > 1 || group.members.front().perRow;
  bool readsRow =
      hasRows && llvm::any_of(member.op->getOperands(), [&](Value v) {
        return group.produced.contains(v) &&
               cast<RankedTensorType>(v.getType()).getNumElements() ==
                   group.rows;
      });
  if (space.elements() == group.rows && readsRow) {
    member.perRow = true;
    return true;
  }
  return space.elements() == group.rows * group.columns && group.columns > 1;
}

/// Open groups that make or read an operand, the latest first.
SmallVector<KernelGroup *> Grouping::candidates(Operation *op) {
  SmallVector<KernelGroup *> found;
  for (Value operand : op->getOperands()) {
    if (!isBig(operand))
      continue;
    if (KernelGroup *maker = makers.lookup(operand))
      found.push_back(maker);
    if (auto it = readers.find(operand); it != readers.end()) {
      llvm::erase_if(it->second, [](KernelGroup *g) { return !g->open; });
      found.append(it->second.begin(), it->second.end());
    }
  }
  llvm::sort(found, [](auto *a, auto *b) { return a->number > b->number; });
  found.erase(llvm::unique(found), found.end());
  return found;
}

bool Grouping::tryJoin(KernelGroup &group, const KernelMember &candidate) {
  KernelMember member = candidate;
  if (!fits(group, member))
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
  if (!group.microBatch)
    group.microBatch = microBatchOf(member.op);
  for (Value operand : member.op->getOperands())
    if (isBig(operand) && group.read.insert(operand).second)
      readers[operand].push_back(&group);
  for (Value result : member.op->getResults()) {
    group.produced.insert(result);
    makers[result] = &group;
  }
}

KernelGroup &Grouping::start(KernelMember member) {
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
  group->number = groups.size();
  add(*group, member);
  groups.push_back(std::move(group));
  return *groups.back();
}

void Grouping::closeReadGroups(Operation *op, KernelGroup *except) {
  for (Value operand : op->getOperands()) {
    auto it = makers.find(operand);
    if (it == makers.end() || it->second == except)
      continue;
    KernelGroup *group = it->second;
    group->open = false;
    for (Value value : group->produced)
      makers.erase(value);
  }
  // Ops with regions read what their bodies read.
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      closeReadGroups(&inner, except);
}

/// Closes all groups, because a kernel runs in one task.
void Grouping::closeAll() {
  for (auto &[value, group] : makers)
    group->open = false;
  makers.clear();
  readers.clear();
}

/// Groups over the same rows and columns that `op`, a member of `into`, reads:
/// nothing else has read them, so they can run where `op` stands.
void Grouping::mergeReadGroups(Operation *op, KernelGroup &into) {
  bool merged = false;
  for (Value operand : op->getOperands()) {
    KernelGroup *group = makers.lookup(operand);
    bool same = group && group != &into &&
                (group->schedule == KernelGroup::Column) ==
                    (into.schedule == KernelGroup::Column) &&
                group->rows == into.rows && group->columns == into.columns &&
                !group->free && !isOfOther(group->microBatch, into);
    if (!same)
      continue;
    if (group->schedule == KernelGroup::Both)
      into.schedule = KernelGroup::Both;
    for (const KernelMember &member : group->members)
      add(into, member);
    group->members.clear();
    group->open = false;
    merged = true;
  }
  if (merged)
    llvm::stable_sort(into.members, [](const auto &a, const auto &b) {
      return a.op->isBeforeInBlock(b.op);
    });
}

/// Returns whether the rows, which may run where `columns` does, can reduce for
/// it.
bool Grouping::mayTake(const KernelGroup &rows, const KernelGroup &columns) {
  bool same =
      rows.free ? rows.rows * rows.columns == columns.rows * columns.columns
                : rows.rows == columns.rows && rows.columns == columns.columns;
  return same && rows.open && rows.schedule != KernelGroup::Column &&
         !isOfOther(columns.microBatch, rows);
}

/// Returns an open group of rows that makes or reads a full operand of
/// `columns`.
KernelGroup *Grouping::rowsOf(const KernelGroup &columns) {
  if (columns.columns > kMostReducedColumns)
    return nullptr;
  KernelGroup *latest = nullptr;
  for (const KernelMember &member : columns.members) {
    if (member.perRow || readsColumnReduction(member.op, columns))
      return nullptr;
    for (KernelGroup *group : candidates(member.op)) {
      bool shares = llvm::any_of(member.op->getOperands(), [&](Value operand) {
        auto type = cast<RankedTensorType>(operand.getType());
        return type.getNumElements() == columns.rows * columns.columns &&
               (group->read.contains(operand) ||
                group->produced.contains(operand));
      });
      if (shares && mayTake(*group, columns) &&
          (!latest || group->number > latest->number))
        latest = group;
    }
  }
  return latest;
}

/// Gives a reduction along columns to a kernel of rows, which then need not be
/// read again. The group in which the reduction is then.
KernelGroup &Grouping::mergeIntoRows(KernelGroup &columns) {
  KernelGroup *rows = rowsOf(columns);
  if (!rows)
    return columns;
  rows->schedule = KernelGroup::Both;
  rows->rows = columns.rows;
  rows->columns = columns.columns;
  rows->free = false;
  for (const KernelMember &member : columns.members)
    add(*rows, member);
  columns.members.clear();
  columns.open = false;
  return *rows;
}

/// Returns whether a group that is still open makes a table of the op.
bool Grouping::readsMadeTable(const KernelMember &member) {
  return llvm::any_of(
      llvm::zip(member.space.operands, member.op->getOperands()),
      [&](auto pair) {
        auto [read, value] = pair;
        return read.access == KernelOperand::Table && makers.contains(value);
      });
}

KernelGroup &Grouping::join(Operation *op, const KernelMember &member) {
  for (KernelGroup *group : candidates(op))
    if (tryJoin(*group, member)) {
      mergeReadGroups(op, *group);
      return *group;
    }
  return start(member);
}

void Grouping::visit(Operation *op) {
  if (rt::isTaskBorder(op))
    return closeAll();
  std::optional<KernelSpace> space = kernelSpace(op);
  if (!space)
    return closeReadGroups(op, nullptr);
  KernelMember member{op, *space};
  if (readsMadeTable(member)) {
    closeReadGroups(op, nullptr);
    start(member);
    return;
  }
  KernelGroup *group = &join(op, member);
  if (reducesColumns && group->schedule == KernelGroup::Column &&
      space->reduction == KernelSpace::Rows)
    group = &mergeIntoRows(*group);
  closeReadGroups(op, group);
}

std::vector<std::unique_ptr<KernelGroup>> Grouping::run(Block &block) {
  for (Operation &op : block)
    visit(&op);
  llvm::erase_if(groups, [](auto &group) { return group->members.empty(); });
  return std::move(groups);
}

} // namespace

std::vector<std::unique_ptr<KernelGroup>>
tessera::formGroups(Block &block, bool reducesColumns) {
  return Grouping(reducesColumns).run(block);
}
