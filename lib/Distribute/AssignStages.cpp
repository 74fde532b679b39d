//===- AssignStages.cpp - cuts the model into chunks ----------------------===//
// The program between two values of the residual stream is a segment; a chunk
// is some consecutive segments. Backward costs twice the forward, so only the
// forward program is weighed.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/Counted.h"
#include "tessera/Program/PartName.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace tessera {
#define GEN_PASS_DEF_ASSIGNSTAGESPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct Segment {
  SmallVector<Operation *> ops;
  double flops = 0;
  StringRef layer; ///< "h.3"; "" outside of the layers.
};

struct AssignStagesPass
    : tessera::impl::AssignStagesPassBase<AssignStagesPass> {
  using AssignStagesPassBase::AssignStagesPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> found =
        nn::findWithOthers(getOperation(), "loss");
    if (failed(found))
      return signalPassFailure();
    func::FuncOp program = found->front();
    std::vector<Segment> segments = cut(program);
    FailureOr<std::vector<int64_t>> chunks =
        layers.empty() ? balance(program, segments) : count(program, segments);
    if (failed(chunks))
      return signalPassFailure();
    Builder builder(&getContext());
    for (auto [segment, chunk] : llvm::zip(segments, *chunks))
      for (Operation *op : segment.ops)
        op->setAttr(dist::DistDialect::kChunkAttr,
                    builder.getI64IntegerAttr(chunk));
  }

  std::vector<Segment> cut(func::FuncOp func);
  FailureOr<std::vector<int64_t>> balance(func::FuncOp func,
                                          ArrayRef<Segment> segments);
  FailureOr<std::vector<int64_t>> count(func::FuncOp func,
                                        ArrayRef<Segment> segments);
  LogicalResult checkCounts(func::FuncOp func);
  int64_t chunkCount() const { return stages * virtualStages; }
  std::string plan() const {
    return "pp=" + std::to_string(stages) + " with " +
           std::to_string(virtualStages) + " virtual stage" +
           (virtualStages == 1 ? "" : "s");
  }
};

std::vector<Segment> AssignStagesPass::cut(func::FuncOp func) {
  std::vector<Segment> segments(1);
  for (Operation &op : func.getBody().front().without_terminator()) {
    Segment &segment = segments.back();
    segment.ops.push_back(&op);
    if (auto cost = dyn_cast<nn::CostOpInterface>(op))
      segment.flops += static_cast<double>(cost.getFlops());
    if (StringRef layer = program::layerOfPart(nn::partOf(op.getLoc())).name;
        !layer.empty())
      segment.layer = layer;
    if (nn::hasTag(&op, nn::Tag::Stream))
      segments.emplace_back();
  }
  if (segments.back().ops.empty())
    segments.pop_back();
  return segments;
}

/// Minimizes the flops of the largest chunk, then the sum of squares of flops,
/// so that the smaller chunks are alike too. best[k][n] is the best cut of the
/// first n segments into k chunks.
FailureOr<std::vector<int64_t>>
AssignStagesPass::balance(func::FuncOp func, ArrayRef<Segment> segments) {
  int64_t n = segments.size(), chunks = chunkCount();
  if (chunks > n)
    return func.emitError()
           << "has " << counted(n, "segment")
           << " between values of the residual stream, "
           << "but " << plan() << " needs " << chunks
           << ", one per chunk at least; use fewer stages or virtual stages";
  using Cost = std::pair<double, double>;
  std::vector<double> sums(n + 1, 0);
  for (int64_t k = 0; k < n; ++k)
    sums[k + 1] = sums[k] + segments[k].flops;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::vector<Cost>> best(chunks + 1,
                                      std::vector<Cost>(n + 1, {never, never}));
  std::vector<std::vector<int64_t>> from(chunks + 1,
                                         std::vector<int64_t>(n + 1, 0));
  best[0][0] = {0, 0};
  for (int64_t k = 1; k <= chunks; ++k)
    for (int64_t end = k; end <= n; ++end)
      for (int64_t begin = k - 1; begin < end; ++begin) {
        double flops = sums[end] - sums[begin];
        Cost cost = {std::max(best[k - 1][begin].first, flops),
                     best[k - 1][begin].second + flops * flops};
        if (cost < best[k][end]) {
          best[k][end] = cost;
          from[k][end] = begin;
        }
      }
  std::vector<int64_t> result(n);
  for (int64_t k = chunks, end = n; k > 0; end = from[k--][end])
    std::fill(result.begin() + from[k][end], result.begin() + end, k - 1);
  return result;
}

LogicalResult AssignStagesPass::checkCounts(func::FuncOp func) {
  auto isFew = [&](size_t chunk) {
    bool isOuter = chunk == 0 || chunk + 1 == layers.size();
    return layers[chunk] < (isOuter ? 0 : 1);
  };
  if (static_cast<int64_t>(layers.size()) == chunkCount() &&
      llvm::none_of(llvm::seq<size_t>(0, layers.size()), isFew))
    return success();
  return func.emitError()
         << "the model is to be cut into " << counted(layers.size(), "part")
         << ", but " << plan() << " has " << counted(chunkCount(), "chunk")
         << "; give each its number of layers, at least 1, or 0 of the first "
            "and of the last";
}

/// A last chunk without layers has what follows the last layer.
FailureOr<std::vector<int64_t>>
AssignStagesPass::count(func::FuncOp func, ArrayRef<Segment> segments) {
  if (failed(checkCounts(func)))
    return failure();
  int64_t wanted = 0;
  for (int64_t each : layers)
    if (llvm::AddOverflow(wanted, each, wanted))
      wanted = std::numeric_limits<int64_t>::max();
  int64_t last = chunkCount() - 1, layer = -1, chunk = 0, left = layers.front();
  std::vector<int64_t> result;
  StringRef name;
  for (const Segment &segment : segments) {
    if (!segment.layer.empty() && segment.layer != name) {
      name = segment.layer;
      ++layer;
      while (left == 0 && chunk < last)
        left = layers[++chunk];
      --left;
    } else if (segment.layer.empty() && layer + 1 == wanted) {
      chunk = last;
    }
    result.push_back(chunk);
  }
  if (wanted != layer + 1)
    return func.emitError()
           << "the model has " << counted(layer + 1, "layer") << ", but "
           << wanted << " are given to stages; they must be the same";
  for (int64_t end : {int64_t(0), last})
    if (!llvm::is_contained(result, end))
      return func.emitError()
             << "chunk " << end << " would be empty, as nothing is "
             << (end ? "behind" : "before") << " the layers; give it a layer";
  return result;
}

} // namespace
