//===- PatternWalk.cpp - rewrite patterns, once for each op ---------------===//

#include "lib/Lower/PatternWalk.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "tessera/Lower/Kernels/KernelSpace.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Visits ops, and knows which of them a pattern erased before their turn.
class PatternWalk : public RewriterBase::Listener {
public:
  PatternWalk(MLIRContext *context, const FrozenRewritePatternSet &patterns)
      : applicator(patterns), rewriter(context) {
    rewriter.setListener(this);
    applicator.applyDefaultCostModel();
  }
  virtual ~PatternWalk() = default;

  /// Returns whether a pattern changed anything.
  bool run(Operation *root, VisitOrder order = VisitOrder::Forward) {
    SmallVector<Operation *> ops;
    root->walk([&](Operation *op) { ops.push_back(op); });
    ops.pop_back(); // the root
    if (order == VisitOrder::Backward)
      std::reverse(ops.begin(), ops.end());
    bool hasChanged = false;
    for (Operation *op : ops)
      if (!erased.contains(op))
        hasChanged |= visit(op);
    return hasChanged;
  }

protected:
  virtual bool visit(Operation *op) {
    rewriter.setInsertionPoint(op);
    return succeeded(applicator.matchAndRewrite(op, rewriter));
  }

private:
  void notifyOperationErased(Operation *op) override { erased.insert(op); }

  PatternApplicator applicator;
  PatternRewriter rewriter;
  DenseSet<Operation *> erased;
};

/// Reports ops that can become neither a call nor a part of a kernel.
class LoweringWalk : public PatternWalk {
public:
  using PatternWalk::PatternWalk;
  bool hasFailed = false;

private:
  bool visit(Operation *op) override {
    reason.clear();
    if (PatternWalk::visit(op))
      return true;
    if (!reason.empty() && !kernelSpace(op)) {
      op->emitOpError() << reason;
      hasFailed = true;
    }
    return false;
  }
  void notifyMatchFailure(Location loc,
                          function_ref<void(Diagnostic &)> write) override {
    if (!reason.empty())
      return;
    Diagnostic diagnostic(loc, DiagnosticSeverity::Error);
    write(diagnostic);
    reason = diagnostic.str();
  }

  std::string reason;
};

} // namespace

bool tessera::applyPatternsOnce(Operation *root,
                                const FrozenRewritePatternSet &patterns,
                                VisitOrder order) {
  return PatternWalk(root->getContext(), patterns).run(root, order);
}

LogicalResult
tessera::lowerPatternsOnce(Operation *root,
                           const FrozenRewritePatternSet &patterns) {
  LoweringWalk walk(root->getContext(), patterns);
  walk.run(root);
  return failure(walk.hasFailed);
}
