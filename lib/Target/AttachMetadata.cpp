//===- AttachMetadata.cpp - stores the metadata on the module -------------===//

#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Target/MetadataJson.h"
#include "tessera/Target/Passes.h"

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
    FailureOr<SmallVector<func::FuncOp>> programs =
        rt::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    FailureOr<std::string> metadata = buildMetadata(getOperation(), *programs);
    if (failed(metadata))
      return signalPassFailure();
    getOperation()->setAttr(rt::kMetadataAttr,
                            StringAttr::get(&getContext(), *metadata));
  }
};

} // namespace
