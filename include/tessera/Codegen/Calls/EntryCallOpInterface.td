//===- EntryCallOpInterface.td - ops as calls of entries ---*- tablegen -*-===//

#ifndef TESSERA_CODEGEN_CALLS_ENTRYCALLOPINTERFACE_TD
#define TESSERA_CODEGEN_CALLS_ENTRYCALLOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def EntryCallOpInterface : OpInterface<"EntryCallOpInterface"> {
  let cppNamespace = "::tessera";
  let description = [{
    An op that becomes one call of an entry of the runtime in call lists. Such an
    op also has `RuntimeCallOpInterface`, which says what it does with buffers.
  }];
  let methods = [
    InterfaceMethod<[{
      The entry, the buffers and the arguments; `mesh` gives axes their numbers
      and is null without one. An op that the entry cannot run fails with an
      error.
      }], "::mlir::FailureOr<::tessera::RuntimeCall>", "describeCall",
      (ins "::tessera::dist::MeshAttr":$mesh)>
  ];
}

#endif // TESSERA_CODEGEN_CALLS_ENTRYCALLOPINTERFACE_TD
