//===- RTExpertOps.td - routed tokens on one rank ----------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_RT_RTEXPERTOPS_TD
#define TESSERA_DIALECT_RT_RTEXPERTOPS_TD

include "mlir/IR/EnumAttr.td"

def RT_RoutedKind : I32EnumAttr<"RoutedKind", "what is done with routed rows", [
    I32EnumAttrCase<"TopK", 0, "top_k">,
    I32EnumAttrCase<"Dispatch", 1, "dispatch">,
    I32EnumAttrCase<"Collect", 2, "collect">,
    I32EnumAttrCase<"CollectGradGates", 3, "collect_grad_gates">,
    I32EnumAttrCase<"Product", 4, "product">,
    I32EnumAttrCase<"ProductGradWeight", 5, "product_grad_weight">]> {
  let cppNamespace = "::tessera::rt";
}

def RT_RoutedOp : RT_Op<"routed", [Pure, RT_Call<>,
                                   DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "Work on routed rows, as TSR_ROUTED of runtime/tessera/abi.h";
  let description = [{
    The sizes are those of the tensors. The last input holds the gates
    [.., experts]; work is done only where they are not 0. A token is routed to
    `k` experts of the `total` on all ranks.
  }];
  let arguments = (ins RT_RoutedKind:$kind, Variadic<AnyRankedTensor>:$inputs,
                       RT_Positive:$k, RT_Positive:$total, UnitAttr:$weighted, UnitAttr:$transposed);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$kind $inputs attr-dict `:` functional-type($inputs, $result)";
}

#endif // TESSERA_DIALECT_RT_RTEXPERTOPS_TD
