//===- RoutedCall.cpp - Checks a call and makes its parameters ------------===//

#include "runtime/cuda/experts/RoutedCall.h"
#include "tessera/abi.h"

#include <algorithm>
#include <initializer_list>

using namespace tessera;
using namespace tessera::cuda;

/// Positions are ints in the kernels, with room for the last tile.
static constexpr int64_t kMost = (int64_t(1) << 31) - 1024;
/// Blocks along y of a grid (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
static constexpr int64_t kMostExperts = 65535;
/// The sizes of a result's tiles, on tensor cores or not.
static constexpr int64_t kLeastTile = 64;

static bool isProduct(const RoutedProblem &p) {
  return p.kind == TSR_ROUTED_PRODUCT ||
         p.kind == TSR_ROUTED_PRODUCT_GRAD_WEIGHT;
}

static int64_t bytesOf(int64_t dtype) {
  return dtype == TSR_DTYPE_BF16 ? 2 : 4;
}

static int64_t tiles(int64_t size) {
  return (size + kLeastTile - 1) / kLeastTile;
}

static std::string tooMany(const char *what, int64_t count, int64_t most) {
  return "routed: " + std::to_string(count) + " " + what +
         " are too many for device 'cuda'; at most " + std::to_string(most);
}

std::string tessera::cuda::checkRouted(const RoutedProblem &p) {
  if (p.dtypeIn == TSR_DTYPE_F64)
    return "routed: f64 is not supported on device 'cuda'; use f32 or bf16";
  const bool makesGates = p.kind == TSR_ROUTED_TOP_K ||
                          p.kind == TSR_ROUTED_COLLECT_GRAD_GATES ||
                          p.kind == TSR_ROUTED_ROUNDS;
  if (makesGates && p.dtypeOut != TSR_DTYPE_F32)
    return "routed: gates and their gradients have dtype 0 (f32), not " +
           std::to_string(p.dtypeOut);
  if (isProduct(p) && p.dtypeIn == TSR_DTYPE_F32 && p.dtypeOut != p.dtypeIn)
    return "routed: products of dtype 0 (f32) have no results of dtype " +
           std::to_string(p.dtypeOut) + "; use f32";
  if (p.experts > kMostExperts)
    return tooMany("experts", p.experts, kMostExperts);
  if (p.tokens * std::max<int64_t>(p.experts, 1) > kMost)
    return tooMany("rows of experts", p.tokens * p.experts, kMost);
  if (p.rows > kMost)
    return tooMany("compact rows", p.rows, kMost);
  if (p.members > kMostExperts)
    return tooMany("members", p.members, kMostExperts);
  if (p.movesMessages() && std::max(p.message, p.sent) * p.members > kMost)
    return tooMany("rows of messages", p.message * p.members, kMost);
  for (int64_t width : {p.columns, p.inner})
    if (width > kMost)
      return tooMany("columns", width, kMost);
  const int64_t across = p.kind == TSR_ROUTED_PRODUCT
                             ? tiles(p.tokens) * tiles(p.columns)
                             : tiles(p.inner) * tiles(p.columns);
  return isProduct(p) && across > kMost ? tooMany("tiles", across, kMost) : "";
}

/// Returns whether compact rows have places, or first rows.
static bool isCompact(const RoutedProblem &p) {
  return p.rows > 0 && p.kind != TSR_ROUTED_TOP_K &&
         p.kind != TSR_ROUTED_ROUNDS && !p.movesMessages();
}

/// Returns the pieces of a message that lie together among compact rows.
static int64_t segmentsOf(const RoutedProblem &p) {
  return p.own ? 1 : p.experts;
}

/// Counts; then first rows and, but of products, places; or lists; or the
/// number of all rows and a message's pieces.
size_t tessera::cuda::routedWorkspace(const RoutedProblem &p) {
  const size_t each = size_t(p.experts * p.tokens);
  const size_t counts = size_t(p.experts * p.parts());
  if (p.kind == TSR_ROUTED_ROUNDS)
    return sizeof(int) * counts;
  if (p.movesMessages())
    return sizeof(int) *
           (counts + 1 + size_t(p.members * (2 * segmentsOf(p) + 1)));
  if (isCompact(p))
    return sizeof(int) * (counts + counts + 1 + (isProduct(p) ? 0 : each));
  return isProduct(p) ? sizeof(int) * (counts + each) : 0;
}

static void placeTables(const RoutedProblem &p, int *workspace,
                        RoutedParams &r) {
  r.counts = workspace;
  int *next = workspace + p.experts;
  if (isCompact(p)) {
    r.starts = next;
    r.places = isProduct(p) ? nullptr : next + p.experts + 1;
  } else if (isProduct(p)) {
    r.lists = next;
  }
}

/// Returns whether rows of `columns` are whole vectors of 8 elements, at 16
/// bytes.
static bool isAligned(const void *data, int64_t columns) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && columns % 8 == 0;
}

RoutedParams tessera::cuda::makeRoutedParams(const RoutedProblem &p,
                                             void *workspace) {
  const bool isGrad = p.kind == TSR_ROUTED_PRODUCT_GRAD_WEIGHT;
  const bool isPlain = p.kind == TSR_ROUTED_PRODUCT;
  RoutedParams r = {};
  r.first = p.first;
  r.second = p.second;
  r.gates = static_cast<const float *>(p.gates);
  r.result = p.result;
  r.scales = static_cast<const float *>(p.scales);
  placeTables(p, static_cast<int *>(workspace), r);
  r.tokens = int(p.tokens);
  r.experts = int(p.experts);
  r.columns = int(p.columns);
  r.inner = int(p.inner);
  r.k = int(p.k);
  r.rows = int(p.rows);
  r.parts = int(p.parts());
  r.round = int(p.round);
  r.continues = p.continues();
  r.weighted = p.weighted;
  r.firstAligned = isAligned(p.first, isPlain ? p.inner : p.columns);
  const bool innerRows = isGrad || (isPlain && !p.transposed);
  r.secondAligned = isAligned(p.second, innerRows ? p.inner : p.columns);
  r.resultAligned = isAligned(p.result, isGrad ? p.inner : p.columns);
  return r;
}

MessageParams tessera::cuda::messagesOf(const RoutedProblem &p,
                                        const RoutedParams &params) {
  MessageParams m = {};
  m.counts = params.counts;
  m.routed = params.counts + p.experts * p.parts();
  m.at = m.routed + 1;
  m.row = m.at + p.members * (segmentsOf(p) + 1);
  m.experts = params.experts;
  m.parts = params.parts;
  m.members = int(p.members);
  m.segments = int(segmentsOf(p));
  m.message = int(p.message);
  m.rows = params.rows;
  m.own = p.own;
  m.sent = int(p.sent);
  m.most = int(p.mostOfMember());
  m.packs = p.kind == TSR_ROUTED_PACK;
  m.from = p.first;
  m.to = p.result;
  m.rowHalves = p.columns * bytesOf(p.dtypeOut) / 2;
  m.aligned =
      isAligned(p.first, m.rowHalves) && isAligned(p.result, m.rowHalves);
  return m;
}

UnroutedRows tessera::cuda::unroutedOf(const RoutedProblem &p) {
  return unroutedOf(GatedRows{p.gates, p.experts, p.tokens,
                              p.columns * bytesOf(p.dtypeOut), p.result});
}

RestRows tessera::cuda::restOf(const RoutedProblem &p,
                               const RoutedParams &params) {
  const int64_t halves = p.columns * bytesOf(p.dtypeOut) / 2;
  return {params.starts + p.experts, params.rows, p.result, halves,
          isAligned(p.result, halves)};
}

std::string tessera::cuda::checkGatedRows(const GatedRows &g) {
  if (g.tokens * std::max<int64_t>(g.experts, 1) > kMost)
    return tooMany("rows of experts", g.tokens * g.experts, kMost);
  return g.rowBytes > kMost ? tooMany("bytes of a row", g.rowBytes, kMost) : "";
}

UnroutedRows tessera::cuda::unroutedOf(const GatedRows &g) {
  return {static_cast<const float *>(g.gates),
          int(g.tokens),
          int(g.experts),
          g.rows,
          g.rowBytes / 2,
          isAligned(g.rows, g.rowBytes / 2)};
}
