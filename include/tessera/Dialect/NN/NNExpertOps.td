//===- NNExpertOps.td - mixtures of experts ----------------*- tablegen -*-===//
// Gates [batch, sequence, experts] are 0 where a token is not routed. Tensors
// [experts, batch, sequence, ..] have a row for every expert and token, which
// is 0 unless it is routed: global semantics know nothing of capacity, order or
// devices. That only routed rows cost anything is a matter of lowering.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNEXPERTOPS_TD
#define TESSERA_DIALECT_NN_NNEXPERTOPS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_Routes : RankedTensorOf<[AnyFloat], [HasAnyRankOfPred<[3]>],
                               "gates [batch, sequence, experts]">;

def NN_TopKOp : NN_Op<"top_k", [NN_Differentiable, NN_Precision, NN_TypedElement]> {
  let summary = "Top-k gates: the softmax over the k largest logits, 0 elsewhere";
  let description = [{
    `g_x = exp(l_x) / sum exp(l_y)` over the `k` largest `l_y` of a row, and
    exactly 0 for all others (Jiang et al. 2024, section 2.1). Of equal logits
    the first counts as larger. Its gradient is the softmax's, in terms of the
    result: `dl = g (dg - sum g dg)`.

    Example:

    ```mlir
    %g = nn.top_k 2 of %l : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$k, NN_Routes:$logits);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$k `of` $logits attr-dict `:` type($logits) `->` type($output)";
  let hasVerifier = 1;
}

def NN_RoutedOp : NN_Op<"routed"> {
  let summary = "1 where a gate is not 0, else 0; has no gradient";
  let description = [{
    Example:

    ```mlir
    %m = nn.routed %g : tensor<2x8x4xf32> -> tensor<2x8x4xf32>
    ```
  }];
  let arguments = (ins NN_Routes:$gates);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$gates attr-dict `:` type($gates) `->` type($output)";
}

def NN_DispatchOp : NN_Op<"dispatch", [NN_Differentiable, NN_Routed]> {
  let summary = "Copies tokens to the experts they are routed to";
  let description = [{
    `y[x, b, s, :] = t[b, s, :]` where `gates[b, s, x]` is not 0, else 0. With `weighted`,
    rows are multiplied by their gates.

    Example:

    ```mlir
    %y = nn.dispatch %t by %g : (tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tokens, NN_Routes:$gates, UnitAttr:$weighted);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$tokens `by` $gates (`weighted` $weighted^)? attr-dict `:` functional-type(operands, $output)";
}

def NN_CollectOp : NN_Op<"collect", [NN_Differentiable, NN_Routed]> {
  let summary = "Sums the experts' results for each token";
  let description = [{
    `y[b, s, :] = sum_x r[x, b, s, :]` over the experts whose gate is not 0. With
    `weighted`, rows are multiplied by their gates.

    Example:

    ```mlir
    %y = nn.collect %r by %g weighted : (tensor<4x2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, NN_Routes:$gates, UnitAttr:$weighted);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$rows `by` $gates (`weighted` $weighted^)? attr-dict `:` functional-type(operands, $output)";
}

def NN_CollectGradGatesOp : NN_Op<"collect_grad_gates", [NN_TypedElement, NN_Routed]> {
  let summary = "Gradient of a weighted collect for its gates";
  let description = [{
    `dg[b, s, x] = sum_h grad[b, s, h] r[x, b, s, h]` where the gate is not 0,
    else 0: rows that are not routed are 0 themselves.
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$rows, NN_Routes:$gates);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `,` $rows `by` $gates attr-dict `:` functional-type(operands, $output)";
}

def NN_ExpertLinearOp : NN_Op<"expert_linear", [NN_Differentiable, NN_Cost, NN_TypedElement, NN_ProductPrecision, NN_Routed]> {
  let summary = "Multiplies each expert's routed rows by its matrix";
  let description = [{
    `y[x, b, s, n] = sum_k r[x, b, s, k] w[x, n, k]` where the gate is not 0, else 0.
    With `transposed`, the weights are `w[x, k, n]`. If `compute` is given, operands are
    first rounded to that type. The result has `element_type` or, if that is absent,
    the element type of the rows. Weights of i8 have `scales`: sums are multiplied by
    `scales[x, n]` before they are rounded.

    Example:

    ```mlir
    %y = nn.expert_linear %r, %w by %g
       : (tensor<4x2x8x16xf32>, tensor<4x32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x2x8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$rows, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$scales, NN_Routes:$gates,
                       UnitAttr:$transposed, OptionalAttr<NN_FloatType>:$element_type,
                       OptionalAttr<NN_FloatType>:$compute);
  let results = (outs AnyRankedTensor:$output);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $rows `,` $weight (`,` $scales^)? `by` $gates (`transposed` $transposed^)? attr-dict `:`
    functional-type(operands, $output)
  }];
}

def NN_ExpertLinearGradWeightOp : NN_Op<"expert_linear_grad_weight", [NN_Cost, NN_TypedElement, NN_Routed]> {
  let summary = "Gradient of expert_linear for its weights";
  let description = [{
    `dw[x, n, k] = sum grad[x, b, s, n] r[x, b, s, k]` over the routed rows.
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$rows, NN_Routes:$gates,
                       OptionalAttr<NN_FloatType>:$element_type, OptionalAttr<NN_FloatType>:$compute);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `,` $rows `by` $gates attr-dict `:` functional-type(operands, $output)";
}

#endif // TESSERA_DIALECT_NN_NNEXPERTOPS_TD
