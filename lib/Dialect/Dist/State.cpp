//===- State.cpp - states, duals, conversions -----------------------------===//

#include "tessera/Dialect/Dist/State.h"

using namespace tessera::dist;

#include "tessera/Dialect/Dist/DistEnums.cpp.inc"

std::string State::str() const {
  static const char *const names[] = {"I", "R", "S", "P", "M", "A", "L", "C"};
  std::string text = names[kind];
  if (kind == S || kind == A)
    text += "(" + std::to_string(where) +
            (level ? ":" + std::to_string(level) : "") + ")";
  return text;
}

State tessera::dist::dual(State state) {
  if (state.kind == State::R)
    return {State::P};
  if (state.kind == State::P)
    return {State::R};
  return state;
}

// The backward of every row but those of maxima, means and candidates is in the
// table too.
static constexpr ConversionRow kTable[] = {
    {State::I, State::R, ConversionKind::Enter, Collective::None},
    {State::P, State::I, ConversionKind::AllReduce, Collective::AllReduce},
    {State::S, State::R, ConversionKind::AllGather, Collective::AllGather},
    {State::P, State::S, ConversionKind::ReduceScatter,
     Collective::ReduceScatter},
    {State::I, State::S, ConversionKind::AllSlice, Collective::None},
    {State::S, State::I, ConversionKind::AllGather, Collective::AllGather},
    {State::I, State::P, ConversionKind::ReplicatedToPartial, Collective::None},
    {State::R, State::I, ConversionKind::Leave, Collective::None},
    {State::R, State::S, ConversionKind::AllSlice, Collective::None},
    {State::S, State::P, ConversionKind::ShardedToPartial, Collective::None},
    {State::R, State::P, ConversionKind::ReplicatedToPartial, Collective::None},
    {State::S, State::S, ConversionKind::AllToAll, Collective::AllToAll},
    {State::M, State::I, ConversionKind::AllReduceMax, Collective::AllReduce},
    {State::R, State::A, ConversionKind::ReplicatedToStage, Collective::None},
    {State::A, State::P, ConversionKind::StageToPartial, Collective::None},
    {State::A, State::A, ConversionKind::Send, Collective::Send},
    {State::I, State::A, ConversionKind::ReplicatedToStage, Collective::None},
    {State::A, State::I, ConversionKind::Broadcast, Collective::Broadcast},
    {State::L, State::I, ConversionKind::AllReduceMean, Collective::AllReduce},
    {State::L, State::S, ConversionKind::ReduceScatterMean,
     Collective::ReduceScatter},
    {State::C, State::I, ConversionKind::AllReduceTop, Collective::AllReduce},
};

const ConversionRow *tessera::dist::findConversion(State from, State to) {
  for (const ConversionRow &row : kTable)
    if (row.from == from.kind && row.to == to.kind)
      return from == to ? nullptr : &row;
  return nullptr;
}

std::optional<llvm::SmallVector<State>> tessera::dist::route(State from,
                                                             State to) {
  if (from == to)
    return llvm::SmallVector<State>();
  bool viaInvariant =
      ((from.kind == State::P || from.kind == State::L ||
        from.kind == State::C) &&
       to.kind == State::R) ||
      (from.kind == State::M && to.kind != State::I && to.kind != State::A);
  // Gradients of all stages add as P, with one all-reduce, instead of a
  // broadcast per stage.
  bool viaReplicated = from.kind == State::I && to.kind == State::A;
  if (viaInvariant || viaReplicated) {
    State middle = {viaInvariant ? State::I : State::R};
    llvm::SmallVector<State> path = {middle};
    std::optional<llvm::SmallVector<State>> rest = route(middle, to);
    if (!rest)
      return std::nullopt;
    path.append(*rest);
    return path;
  }
  if (findConversion(from, to))
    return llvm::SmallVector<State>{to};
  return std::nullopt;
}
