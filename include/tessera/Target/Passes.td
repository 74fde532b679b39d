//===- Passes.td - what goes into an artifact --------------*- tablegen -*-===//

#ifndef TESSERA_TARGET_PASSES_TD
#define TESSERA_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachMetadataPass : Pass<"rt-attach-metadata", "::mlir::ModuleOp"> {
  let summary = "Stores the artifact's metadata on the module";
  let description = [{
    Before: `@step` with a memory plan. After: the module attribute
    `rt.metadata` is the JSON of docs/Artifact.md. Runs before host code
    replaces the program that it describes.
  }];
}

#endif // TESSERA_TARGET_PASSES_TD
