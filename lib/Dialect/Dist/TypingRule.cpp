//===- TypingRule.cpp - the one rule --------------------------------------===//

#include "tessera/Dialect/Dist/TypingRule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tessera::dist;

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

Signature Signature::parse(llvm::StringRef spec) {
  Signature sig;
  auto [ins, out] = spec.split("->");
  llvm::SmallVector<llvm::StringRef> parts;
  ins.split(parts, ',');
  for (llvm::StringRef part : parts)
    sig.ins.push_back(part.trim().str());
  sig.out = out.trim().str();
  return sig;
}

Signature Signature::elementwise(int64_t rank, unsigned operands) {
  std::string letters;
  for (int64_t d = 0; d < rank; ++d)
    letters += static_cast<char>('a' + d);
  Signature sig;
  sig.ins.assign(operands, letters);
  sig.out = letters;
  return sig;
}

Signature Signature::on(llvm::StringRef axis) const {
  Signature sig = *this;
  if (axis != ringAxis)
    sig.ring.clear();
  return sig;
}

Signature Signature::exact() const {
  Signature sig = *this;
  if (moves)
    return sig;
  sig.linear.clear();
  if (addsInChunks || reduces != State::P)
    return sig;
  for (const std::string &letters : ins)
    for (char f : letters)
      if (out.find(f) == std::string::npos)
        sig.whole += f;
  return sig;
}

Signature &Signature::linearInEach() {
  for (unsigned k = 0; k < ins.size(); ++k)
    linear.push_back({k});
  return *this;
}

Signature &Signature::linearInAll() {
  linear.push_back(llvm::to_vector(llvm::seq<unsigned>(0, ins.size())));
  return *this;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static std::string factorsOf(const Signature &sig) {
  std::string factors;
  for (auto [k, letters] : llvm::enumerate(sig.ins))
    if (sig.reads(k))
      for (char f : letters)
        if (factors.find(f) == std::string::npos)
          factors += f;
  return factors;
}

/// Returns the state of the first of `factors` that the letters have.
static State splitAlong(llvm::StringRef letters, llvm::StringRef factors,
                        int64_t level, State otherwise) {
  size_t dim = letters.find_first_of(factors);
  return dim == llvm::StringRef::npos ? otherwise : State::sharded(dim, level);
}

/// Visits the rows in order of preference until `visit` returns true. The row
/// is reused: typing an op makes many and keeps one state.
static void visitRows(const Signature &sig, int64_t levels, int64_t stages,
                      llvm::function_ref<bool(const Row &)> visit) {
  Row row;
  auto same = [&](State s) {
    row.operands.assign(sig.ins.size(), s);
    row.result = s;
    return visit(row);
  };
  auto split = [&](llvm::StringRef factors) {
    for (int64_t level = 0; level < levels; ++level) {
      for (auto [state, letters] : llvm::zip(row.operands, sig.ins))
        state = splitAlong(letters, factors, level, {State::R});
      row.result = splitAlong(sig.out, factors, level, {sig.reduces});
      if (visit(row))
        return true;
    }
    return false;
  };
  if (same({State::I}) || same({State::R}))
    return;
  for (int64_t stage = 0; stage < stages; ++stage)
    if (same({State::A, stage}))
      return;
  std::string factors = factorsOf(sig);
  for (const char &factor : factors)
    if (sig.whole.find(factor) == std::string::npos &&
        split(llvm::StringRef(&factor, 1)))
      return;
  if (!sig.ring.empty() && split(sig.ring))
    return;
  for (const auto &group : sig.linear) {
    row.operands.assign(sig.ins.size(), {State::R});
    for (unsigned k : group)
      row.operands[k] = {State::P};
    row.result = {State::P};
    if (visit(row))
      return;
  }
}

llvm::SmallVector<Row> tessera::dist::rows(const Signature &sig, int64_t levels,
                                           int64_t stages) {
  llvm::SmallVector<Row> table;
  visitRows(sig, levels, stages, [&](const Row &row) {
    table.push_back(row);
    return false;
  });
  return table;
}

/// Returns why no factor can be split as the operands say: one must stay whole.
static std::string wholeFactor(const Signature &sig,
                               llvm::ArrayRef<State> states) {
  for (auto [k, state] : llvm::enumerate(states)) {
    if (!state.isSharded() || !sig.reads(k))
      continue;
    llvm::StringRef letters = sig.ins[k];
    char factor = letters[state.where];
    if (sig.whole.find(factor) != std::string::npos)
      return "operand " + std::to_string(k) + " shards dimension " +
             std::to_string(state.where) +
             ", which this op needs whole: all_gather it first";
  }
  return "";
}

static std::string remedy(const Signature &sig, llvm::ArrayRef<State> states) {
  auto any = [&](State::Kind kind) {
    return llvm::any_of(states, [&](State s) { return s.kind == kind; });
  };
  bool partial = any(State::P), invariant = any(State::I);
  if (any(State::A))
    return "operands at a pipeline stage must all be at the same one";
  if (any(State::M))
    return "compare the partial maxima first (all_reduce_max)";
  if (any(State::L))
    return "merge the partial means first (all_reduce_mean, "
           "reduce_scatter_mean)";
  if (any(State::C))
    return "merge the candidates first (all_reduce_top)";
  if (partial && invariant)
    return "reduce the partial operand first (all_reduce, reduce_scatter) or "
           "make the I operand partial";
  if (partial)
    return "reduce the partial operand first (all_reduce, reduce_scatter)";
  if (std::string why = wholeFactor(sig, states); !why.empty())
    return why;
  if (invariant)
    return "an I operand stands next to a varying one: enter or slice it first";
  return "only one factor may be sharded, alike in all operands: all_gather or "
         "all_to_all one of them";
}

std::optional<State> tessera::dist::infer(const Signature &sig,
                                          llvm::ArrayRef<State> states,
                                          std::string &why) {
  llvm::SmallVector<State> seen(states);
  for (unsigned k : sig.shapeOnly)
    if (seen[k].kind == State::P)
      seen[k] = {State::R};
  int64_t levels = 1, stages = 0;
  for (State s : seen) {
    levels = std::max(levels, s.level + 1);
    if (s.kind == State::A)
      stages = std::max(stages, s.where + 1);
  }
  std::optional<State> found;
  visitRows(sig, levels, stages, [&](const Row &row) {
    for (unsigned k = 0; k < seen.size(); ++k)
      if (sig.reads(k) && !(row.operands[k] == seen[k]))
        return false;
    found = row.result;
    return true;
  });
  if (!found)
    why = remedy(sig, seen);
  return found;
}
