//===- ProgramCall.cpp - one call of a compiled program -------------------===//

#include "tessera/Program/ProgramCall.h"
#include "tessera/Program/PartName.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using namespace tessera::program;

namespace {

struct OpRow {
  llvm::StringLiteral op;
  CallKind kind;
  Collective collective = Collective::None;
  CallRole role = CallRole::None;
};

/// All ops that are more than kernels. A product or attention without a shape
/// is a kernel, too.
constexpr OpRow kOps[] = {
    {"gemm", CallKind::Product},
    {"routed", CallKind::Product, Collective::None, CallRole::Routing},
    {"attention", CallKind::Attention},
    {"attention_grad", CallKind::AttentionGradient},
    {"ring_attention", CallKind::Attention},
    {"ring_attention_grad", CallKind::AttentionGradient},
    {"all_reduce", CallKind::Collective, Collective::AllReduce},
    {"all_gather", CallKind::Collective, Collective::AllGather},
    {"all_gather_coalesced", CallKind::Collective, Collective::AllGather},
    {"reduce_scatter", CallKind::Collective, Collective::ReduceScatter},
    {"reduce_scatter_coalesced", CallKind::Collective,
     Collective::ReduceScatter},
    {"all_to_all", CallKind::Collective, Collective::AllToAll},
    {"exchange_rows", CallKind::Collective, Collective::AllToAll},
    {"broadcast", CallKind::Collective, Collective::Broadcast},
    {"shift", CallKind::Collective, Collective::Shift},
    {"zigzag", CallKind::Collective, Collective::Zigzag},
    {"send", CallKind::Send, Collective::Send},
    {"receive", CallKind::Receive},
    {"wait", CallKind::Wait}};

} // namespace

void program::classify(Call &call) {
  auto row =
      llvm::find_if(kOps, [&](const OpRow &row) { return row.op == call.op; });
  if (row != std::end(kOps)) {
    call.kind = row->kind;
    call.collective = row->collective;
    call.role = row->role;
  }
  bool needsShape = call.kind == CallKind::Product ||
                    call.kind == CallKind::Attention ||
                    call.kind == CallKind::AttentionGradient;
  if (needsShape && !call.hasShape())
    call.kind = CallKind::Kernel;
  // The gradients of logits are made where the head reads them.
  bool isOfHead = call.name == kHeadPart;
  if (call.kind == CallKind::Kernel && (isOfHead || call.name == kLossPart))
    call.role = CallRole::Loss;
  if (call.kind == CallKind::Product && isOfHead && call.isForward())
    call.role = CallRole::Logits;
}

double program::ringShare(Collective collective, int64_t ranks) {
  double n = static_cast<double>(ranks);
  switch (collective) {
  case Collective::None:
    return 0;
  case Collective::AllReduce:
    return 2 * (n - 1) / n;
  case Collective::AllGather:
  case Collective::ReduceScatter:
    return (n - 1) / n;
  case Collective::AllToAll:
    return (n - 1) / (n * n);
  case Collective::Send:
  case Collective::Broadcast:
  case Collective::Shift:
    return 1;
  case Collective::Zigzag: // a share of two chunks, for the busiest rank
    return ranks == 1 ? 0 : ranks == 2 ? 0.5 : 1;
  }
  return 0;
}
