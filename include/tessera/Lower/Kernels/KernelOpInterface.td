//===- KernelOpInterface.td - ops that kernels can compute -*- tablegen -*-===//

#ifndef TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_TD
#define TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::tessera";
  let description = [{
    An op with one result that a fused kernel can compute element by element. It
    states everything that the passes on kernels need to know of it: they hold
    no list of ops.
  }];
  let methods = [
    InterfaceMethod<[{
      The iteration space of the op and how it reads each operand; nullopt if no
      kernel can compute it for the operands that it has. By default all follows
      from the op's signature.
      }], "::std::optional<::tessera::KernelSpace>", "getKernelSpace", (ins), "",
      [{ return ::tessera::spaceOfSignature($_op); }]>,
    InterfaceMethod<[{
      Builds what the body needs once per launch, and returns what builds the
      body for one element. An op without a body returns null or, with an error
      of its own, fails.
      }], "::mlir::FailureOr<::tessera::ElementBody>", "buildElementBody",
      (ins "::tessera::KernelScope &":$kernel)>,
    InterfaceMethod<[{
      Whether to compute an element costs more than to store and load it, as exp
      and tanh do on a CPU.
      }], "bool", "isCostly", (ins), "", [{ return false; }]>
  ];
}

#endif // TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_TD
