//===- AnnotateSharing.cpp - results that may overwrite arguments ---------===//

#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Kernels/BufferSharing.h"
#include "tessera/Memory/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ANNOTATESHARINGPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct AnnotateSharing
    : tessera::impl::AnnotateSharingPassBase<AnnotateSharing> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(rt::RTDialect::kScheduleAttr) &&
          !kernel.isDeclaration())
        annotate(kernel);
  }

  void annotate(func::FuncOp kernel) {
    Builder builder(&getContext());
    SmallVector<Attribute> pairs;
    for (auto [argument, result] : findSharedBuffers(kernel))
      pairs.push_back(builder.getDenseI64ArrayAttr({argument, result}));
    kernel->setAttr(rt::RTDialect::kMayShareAttr, builder.getArrayAttr(pairs));
  }
};

} // namespace
