//===- AttachMetadata.cpp - stores the metadata on the module -------------===//

#include "tessera/Dialect/RT/Program.h"
#include "tessera/Target/Metadata.h"
#include "tessera/Target/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera {
#define GEN_PASS_DEF_ATTACHMETADATAPASS
#include "tessera/Target/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct AttachMetadataPass
    : tessera::impl::AttachMetadataPassBase<AttachMetadataPass> {
  using AttachMetadataPassBase::AttachMetadataPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> steps = rt::findSteps(getOperation());
    if (failed(steps))
      return signalPassFailure();
    FailureOr<llvm::json::Object> metadata =
        buildMetadata(getOperation(), *steps);
    if (failed(metadata))
      return signalPassFailure();
    std::string text =
        llvm::formatv("{0}", llvm::json::Value(std::move(*metadata)));
    getOperation()->setAttr(kMetadataAttr,
                            StringAttr::get(&getContext(), text));
  }
};

} // namespace
