//===- RTInterfaces.td - what an op says of its buffers ----*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTINTERFACES_TD
#define TESSERA_DIALECT_RT_RTINTERFACES_TD

include "mlir/IR/OpBase.td"

def RuntimeCallOpInterface : OpInterface<"RuntimeCallOpInterface"> {
  let cppNamespace = "::tessera::rt";
  let description = [{
    An op that the runtime executes as one call. It reads its tensor operands and
    then writes its results. Each operand and result has a contiguous buffer of its
    own unless a method of this interface says otherwise. The "ops" of the metadata
    list these ops in program order.
  }];
  let methods = [
    InterfaceMethod<"The operand whose buffer a result takes, or null.",
      "::mlir::OpOperand *", "getTiedOperand", (ins "unsigned":$result), "",
      [{ return nullptr; }]>,
    InterfaceMethod<[{
      Elements between the rows that the op assumes for an operand; 0 where the
      operand must be contiguous.
      }], "int64_t", "getOperandStride", (ins "unsigned":$operand), "",
      [{ return 0; }]>,
    InterfaceMethod<[{
      Elements between the rows of a result; 0 where it is contiguous. A result
      with gaps is a part of an `rt.concat`.
      }], "int64_t", "getResultStride", (ins "unsigned":$result), "",
      [{ return 0; }]>,
    InterfaceMethod<[{
      Describes the call for the artifact's metadata: its part, phase and times,
      what it computes, moves and communicates.
      }], "void", "describe", (ins "::tessera::program::Call &":$call), "",
      [{ ::tessera::rt::describeCall($_op.getOperation(), call); }]>
  ];
}

def AsyncOpInterface : OpInterface<"AsyncOpInterface"> {
  let cppNamespace = "::tessera::rt";
  let description = [{
    A call that may overlap with computation. An asynchronous call returns at once.
    Its results are pending until `rt.wait`, the only op that may read them; until
    then no op may write what the call reads, or read or write what it writes.
    The asynchronous calls of a rank run one after the other, in the order in
    which they start.
  }];
  let methods = [
    InterfaceMethod<"Whether the call returns before it is done.",
      "bool", "getAsync", (ins)>,
    InterfaceMethod<"Sets whether the call returns before it is done.",
      "void", "setAsync", (ins "bool":$async)>
  ];
  let verify = [{ return ::tessera::rt::verifyAsync($_op); }];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface", [AsyncOpInterface]> {
  let cppNamespace = "::tessera::rt";
  let description = [{
    A call in which all ranks of a group take part. The ranks of a group differ
    only on the op's axes.
  }];
  let methods = [
    InterfaceMethod<"The mesh axes that the group spans.",
      "::mlir::ArrayAttr", "getAxes", (ins)>,
    InterfaceMethod<"The collective, which decides what a rank sends.",
      "::tessera::dist::Collective", "getCollective", (ins)>,
    InterfaceMethod<"The operands or results that are whole on the axes.",
      "::mlir::ValueRange", "getWholes", (ins)>
  ];
}

#endif // TESSERA_DIALECT_RT_RTINTERFACES_TD
