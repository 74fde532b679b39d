//===- Buffers.cpp - which values share memory ----------------------------===//
// Ops are visited in program order, so a buffer's `end` covers the readers of
// everything written to it so far.
//===----------------------------------------------------------------------===//

#include "lib/Memory/Buffers.h"
#include "lib/Memory/MemoryRules.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

Buffers::Buffers(func::FuncOp func, const Liveness &live)
    : func(func), live(live), symbols(func->getParentOp()) {}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

void Buffers::add(Value value) {
  places[value] = {static_cast<unsigned>(buffers.size()), 0};
  Buffer buffer;
  buffer.bytes = bytesOf(value);
  buffer.begin = live.begin(value);
  buffer.end = live.lastUse(value);
  buffer.members.push_back(value);
  buffers.push_back(std::move(buffer));
}

void Buffers::addTo(Place place, Value value) {
  places[value] = place;
  Buffer &buffer = buffers[place.buffer];
  buffer.members.push_back(value);
  buffer.end = std::max(buffer.end, live.lastUse(value));
}

void Buffers::merge(unsigned from, Place to) {
  Buffer &source = buffers[from], &target = buffers[to.buffer];
  for (Value member : source.members) {
    Place &place = places[member];
    place = {to.buffer, to.offset + place.offset};
    target.members.push_back(member);
  }
  target.begin = std::min(target.begin, source.begin);
  target.end = std::max(target.end, source.end);
  source.members.clear();
}

bool Buffers::fillsBuffer(Value value) const {
  Place place = places.at(value);
  const Buffer &buffer = buffers[place.buffer];
  return !buffer.argument && place.offset == 0 &&
         buffer.bytes == bytesOf(value) && !carried.contains(place.buffer);
}

void Buffers::report(OpOperand &operand, std::string why,
                     Conflict::Remedy remedy) {
  if (!conflicts.empty() && conflicts.back().operand == &operand)
    return;
  conflicts.push_back({&operand, std::move(why), remedy});
}

//===----------------------------------------------------------------------===//
// Straight-line ops
//===----------------------------------------------------------------------===//

SmallVector<Conflict> Buffers::build() {
  for (BlockArgument argument : func.getArguments()) {
    add(argument);
    buffers.back().argument = argument;
  }
  for (Operation &op : func.getBody().front().without_terminator())
    visit(&op);
  visitReturn();
  return std::move(conflicts);
}

void Buffers::visit(Operation *op) {
  visitOperands(op);
  TypeSwitch<Operation *>(op)
      .Case([&](ViewOp view) { visitView(view); })
      .Case([&](ConcatOp concat) { visitConcat(concat); })
      .Case([&](LoopOp loop) { visitLoop(loop); })
      .Case([&](RuntimeCallOpInterface call) { visitResults(call); });
}

/// Operands with gaps between their rows are copied for ops that do not know.
void Buffers::visitOperands(Operation *op) {
  auto call = dyn_cast<RuntimeCallOpInterface>(op);
  if (isa<ConcatOp, CopyOp>(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    RowLayout layout = layoutOf(operand.get());
    if (hasPaddedRows(operand.get().getType()) && !knowsPadding(operand))
      report(operand, "has padded rows, of which the op knows nothing",
             Conflict::None);
    if (layout.isContiguous())
      continue;
    bool reshapes =
        isa<ViewOp>(op) && bytesOf(op->getResult(0)) == bytesOf(operand.get());
    bool knows = call && call.getOperandStride(operand.getOperandNumber()) ==
                             layout.stride;
    if (!reshapes && !knows)
      report(operand, "has rows " + std::to_string(layout.stride) +
                          " elements apart, the op needs it contiguous");
  }
}

/// Returns whether an argument is a cache, which the program returns with new
/// rows.
static bool isCache(BlockArgument argument) {
  auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto role = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                nn::NNDialect::kRoleAttr);
  return role && (role.getValue() == nn::kKeyCache ||
                  role.getValue() == nn::kValueCache);
}

/// Returns why an op may not write over an operand; empty if it may.
std::string Buffers::whyNotInPlace(OpOperand &operand) const {
  const Buffer &buffer = buffers[places.at(operand.get()).buffer];
  if (!layoutOf(operand.get()).isContiguous())
    return "is written in place but has gaps between its rows";
  if (buffer.argument && !isCache(buffer.argument))
    return "is written in place but is an argument of the program";
  if (buffer.end > live.positionOf(operand.getOwner()))
    return "is written in place but read again later";
  return "";
}

void Buffers::visitResults(RuntimeCallOpInterface call) {
  for (OpResult result : call->getResults()) {
    OpOperand *tied = call.getTiedOperand(result.getResultNumber());
    std::string why = tied ? whyNotInPlace(*tied) : "";
    // A copy of a cache would be larger than all that a step computes.
    BlockArgument home =
        tied ? buffers[places.at(tied->get()).buffer].argument : nullptr;
    if (!why.empty())
      report(*tied, why,
             home && isCache(home) ? Conflict::None : Conflict::CopyLast);
    if (tied && why.empty())
      addTo(places.at(tied->get()), result);
    else
      add(result);
  }
}

void Buffers::visitView(ViewOp view) {
  Place source = places.at(view.getSource());
  int64_t bytes = view.getOffset() * elementBytesOf(view.getResult());
  addTo({source.buffer, source.offset + bytes}, view.getResult());
}

/// Returns whether what makes a value, a call or a loop, can write it in that
/// layout.
static bool isWrittenAs(Value part, const RowLayout &layout) {
  auto call = part.getDefiningOp<RuntimeCallOpInterface>();
  if (layout.isContiguous())
    return call || part.getDefiningOp<LoopOp>();
  return call && (isa<CopyOp>(call) ||
                  call.getResultStride(
                      cast<OpResult>(part).getResultNumber()) == layout.stride);
}

/// Moves parts into the concatenation's buffer, together with the values that
/// they were written over.
void Buffers::visitConcat(ConcatOp concat) {
  add(concat.getResult());
  unsigned whole = places[concat.getResult()].buffer;
  for (OpOperand &part : concat->getOpOperands()) {
    unsigned index = part.getOperandNumber();
    Place from = places.at(part.get());
    RowLayout layout = layoutIn(concat, index);
    bool written = isWrittenAs(part.get(), layout);
    bool alone = buffers[from.buffer].members.size() == 1;
    if (!written || part.get().getParentBlock() != concat->getBlock() ||
        !fillsBuffer(part.get()) || (!layout.isContiguous() && !alone)) {
      report(part,
             "cannot be written inside the concatenation by its producer");
      continue;
    }
    int64_t bytes = concat.getPartOffsets()[index] * elementBytesOf(part.get());
    merge(from.buffer, {whole, bytes});
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Buffers::visitLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  SmallVector<unsigned> taken;
  for (OpOperand &init : loop.getInitsMutable()) {
    BlockArgument argument = body.getArgument(init.getOperandNumber() + 1);
    unsigned buffer = places.at(init.get()).buffer;
    std::string why = whyNotInPlace(init);
    if (why.empty() && carried.contains(buffer))
      why = "starts two values that the loop carries";
    if (!why.empty()) {
      report(init, why);
      add(argument);
    } else {
      addTo(places.at(init.get()), argument);
    }
    taken.push_back(places.at(argument).buffer);
    carried.insert(taken.back());
  }
  for (Operation &op : body.without_terminator())
    visit(&op);
  visitYield(loop);
  for (auto [argument, result] :
       llvm::zip(body.getArguments().drop_front(), loop.getResults()))
    addTo(places.at(argument), result);
  for (unsigned buffer : taken)
    carried.erase(buffer);
}

/// Returns the last position inside the loop that reads what is in the buffer.
int64_t Buffers::lastReadInside(LoopOp loop, unsigned buffer) const {
  int64_t last = live.positionOf(loop);
  for (Value member : buffers[buffer].members)
    if (loop.getBody().isAncestor(member.getParentRegion()))
      last = std::max(last, live.lastUse(member));
  return last;
}

/// The next value of what the loop carries is written over the last one.
void Buffers::visitYield(LoopOp loop) {
  Block &body = loop.getBody().front();
  for (OpOperand &next : body.getTerminator()->getOpOperands()) {
    Value argument = body.getArgument(next.getOperandNumber() + 1);
    Place home = places.at(argument), place = places.at(next.get());
    if (place.buffer == home.buffer && place.offset == home.offset)
      continue;
    bool inside = loop.getBody().isAncestor(next.get().getParentRegion());
    if (inside &&
        canTake(next.get(), home, lastReadInside(loop, home.buffer))) {
      merge(place.buffer, home);
      continue;
    }
    bool other = inside && carried.contains(place.buffer);
    report(next, "is not written over the value that the loop carries",
           other ? Conflict::CopyFirst : Conflict::CopyLast);
  }
}

/// Returns whether a value's buffer can become part of `home`, whose content is
/// read for the last time at `lastRead`.
bool Buffers::canTake(Value value, Place home, int64_t lastRead) const {
  Place place = places.at(value);
  if (!fillsBuffer(value) || !layoutOf(value).isContiguous() ||
      place.buffer == home.buffer)
    return false;
  int64_t begin = buffers[place.buffer].begin;
  return lastRead < begin ||
         (lastRead == begin &&
          mayWriteOver(buffers[place.buffer].members.front(), home));
}

/// Returns whether the op that makes `first` may write it over what it reads at
/// `home`.
bool Buffers::mayWriteOver(Value first, Place home) const {
  auto launch = first.getDefiningOp<LaunchOp>();
  auto kernel = launch ? symbols.lookup<func::FuncOp>(launch.getKernel())
                       : func::FuncOp();
  if (!kernel)
    return false;
  unsigned result = cast<OpResult>(first).getResultNumber();
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    Place place = places.at(input);
    if (place.buffer != home.buffer)
      continue;
    if (place.offset != home.offset || input.getType() != first.getType() ||
        !mayShare(kernel, index, result))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// End of the step
//===----------------------------------------------------------------------===//

void Buffers::visitReturn() {
  Operation *ret = func.getBody().front().getTerminator();
  SmallVector<BlockArgument> homes = updatedArguments(func);
  for (OpOperand &operand : ret->getOpOperands()) {
    Value value = operand.get();
    Place place = places.at(value);
    BlockArgument home = homes[operand.getOperandNumber()];
    if (!home) {
      if (!fillsBuffer(value) || !layoutOf(value).isContiguous())
        report(operand, "is returned and has no buffer of its own");
      continue;
    }
    Place target = places.at(home);
    if (place.buffer == target.buffer && place.offset == 0)
      continue;
    if (bytesOf(value) == bytesOf(home) &&
        canTake(value, target, buffers[target.buffer].end))
      merge(place.buffer, target);
    else
      report(operand,
             "cannot be written over the argument that it updates: its "
             "producer reads it in another order, or it is read again later",
             Conflict::None);
  }
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

/// Returns whether nothing else is in the bytes of `value` before its op runs,
/// though its buffer is there since `begin`.
bool Buffers::isFreeSince(int64_t begin, Value value) const {
  Place place = places.at(value);
  const Buffer &buffer = buffers[place.buffer];
  int64_t end = place.offset + bytesOf(value);
  auto isElsewhere = [&](Value member) {
    int64_t offset = places.at(member).offset;
    return live.begin(member) >= live.begin(value) || end <= offset ||
           offset + bytesOf(member) <= place.offset;
  };
  return !buffer.argument && buffer.begin <= begin &&
         layoutOf(value).isContiguous() &&
         llvm::all_of(buffer.members, isElsewhere);
}

/// A result takes the buffer of an input that dies, or the input lies where the
/// result will be: sums of micro-batches in the bucket that reduces the last.
void Buffers::shareAt(LaunchOp launch, OpResult result) {
  int64_t position = live.positionOf(launch);
  unsigned mine = places.at(result).buffer;
  bool isWhole = fillsBuffer(result) && buffers[mine].begin == position;
  for (Value input : launch.getInputs()) {
    Place place = places.at(input);
    const Buffer &buffer = buffers[place.buffer];
    bool dies = buffer.end == position && buffer.begin < position;
    if (!dies || input.getType() != result.getType() || !fillsBuffer(input) ||
        !mayWriteOver(result, place))
      continue;
    // The initial values of a loop are made right before it.
    auto loop = input.getDefiningOp<LoopOp>();
    int64_t since = loop ? live.positionOf(loop) : buffer.begin;
    if (!isWhole && !isFreeSince(since, result))
      continue;
    if (!isWhole)
      return merge(place.buffer, places.at(result));
    merge(mine, place);
    // One result per dying buffer, even if nothing reads it.
    buffers[place.buffer].end =
        std::max(buffers[place.buffer].end, position + 1);
    return;
  }
}

void Buffers::shareDyingInputs() {
  func.getBody().walk<WalkOrder::PreOrder>([&](LaunchOp launch) {
    for (OpResult result : launch->getResults())
      shareAt(launch, result);
  });
}

void Buffers::keepInputs(ArrayRef<LaunchOp> neighbours) {
  constexpr int64_t smallBytes = 4 << 10;
  int64_t last = live.positionOf(neighbours.back());
  for (LaunchOp launch : neighbours)
    for (Value input : launch.getInputs()) {
      Buffer &buffer = buffers[places.at(input).buffer];
      if (!buffer.argument && buffer.bytes <= smallBytes)
        buffer.end = std::max(buffer.end, last);
    }
}

void Buffers::keepInputsOfNeighbours() {
  func.getBody().walk([&](Block *block) {
    SmallVector<LaunchOp> neighbours;
    for (Operation &op : *block) {
      auto launch = dyn_cast<LaunchOp>(op);
      bool follows =
          launch && !neighbours.empty() &&
          neighbours.back().getKernelAttr() == launch.getKernelAttr();
      if (!follows && !neighbours.empty()) {
        keepInputs(neighbours);
        neighbours.clear();
      }
      if (launch)
        neighbours.push_back(launch);
    }
  });
}
