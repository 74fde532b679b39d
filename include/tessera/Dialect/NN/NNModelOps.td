//===- NNModelOps.td - layers, loss, optimizer, micro-batches -------------===//

#ifndef TESSERA_DIALECT_NN_NNMODELOPS_TD
#define TESSERA_DIALECT_NN_NNMODELOPS_TD

include "tessera/Dialect/NN/NNAttention.td"
include "tessera/Dialect/NN/NNBase.td"

def NN_LayerNormOp : NN_Op<"layer_norm", [NN_Differentiable, NN_TypedElement, NN_Precision]> {
  let summary = "Layer normalization over the last dimension";
  let description = [{
    `y = (x - mean) / sqrt(var + epsilon) * weight + bias` (Ba et al. 2016),
    rounded once to `element_type` (that of `x` when absent).

    Example:

    ```mlir
    %y = nn.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64}
       : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Rows:$input, AnyRankedTensor:$weight,
                       AnyRankedTensor:$bias, F64Attr:$epsilon,
                       OptionalAttr<NN_FloatType>:$element_type);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::Value":$input,
                                 "::mlir::Value":$weight, "::mlir::Value":$bias,
                                 "::mlir::FloatAttr":$epsilon), [{
    build($_builder, $_state, output, input, weight, bias, epsilon, ::mlir::TypeAttr());
  }]>];
}

def NN_LayerNormGradInputOp : NN_Op<"layer_norm_grad_input", [NN_TypedElement]> {
  let summary = "Gradient of layer_norm for its input";
  let description = [{
    With `n` the normalized input and `u = g * weight`:
    `dx = (u - mean(u) - n * mean(u * n)) / sqrt(var + epsilon)`.
  }];
  let arguments = (ins AnyRankedTensor:$grad, NN_Rows:$input,
                       AnyRankedTensor:$weight, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_LayerNormGradWeightOp : NN_Op<"layer_norm_grad_weight", [NN_TypedElement]> {
  let summary = "Gradient of layer_norm for its weight: sum of g * normalized x";
  let arguments = (ins AnyRankedTensor:$grad, NN_Rows:$input, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_RMSNormOp : NN_Op<"rms_norm", [NN_Differentiable, NN_TypedElement, NN_Precision]> {
  let summary = "RMS normalization: scales the last dimension to a mean square of 1";
  let description = [{
    `y = x / sqrt(mean(x^2) + epsilon) * weight` (Zhang and Sennrich 2019),
    rounded once to `element_type` (that of `x` when absent).

    Example:

    ```mlir
    %y = nn.rms_norm %x, %w {epsilon = 1.0e-5 : f64}
       : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Rows:$input, AnyRankedTensor:$weight, F64Attr:$epsilon,
                       OptionalAttr<NN_FloatType>:$element_type);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::Value":$input,
                                 "::mlir::Value":$weight, "::mlir::FloatAttr":$epsilon), [{
    build($_builder, $_state, output, input, weight, epsilon, ::mlir::TypeAttr());
  }]>];
}

def NN_RMSNormGradInputOp : NN_Op<"rms_norm_grad_input", [NN_TypedElement]> {
  let summary = "Gradient of rms_norm for its input";
  let description = [{
    With `n` the normalized input and `u = g * weight`:
    `dx = (u - n * mean(u * n)) / sqrt(mean(x^2) + epsilon)`.
  }];
  let arguments = (ins AnyRankedTensor:$grad, NN_Rows:$input,
                       AnyRankedTensor:$weight, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_RMSNormGradWeightOp : NN_Op<"rms_norm_grad_weight", [NN_TypedElement]> {
  let summary = "Gradient of rms_norm for its weight: sum of g * normalized x";
  let arguments = (ins AnyRankedTensor:$grad, NN_Rows:$input, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_RopeOp : NN_Op<"rope", [NN_Differentiable]> {
  let summary = "Rotary position embedding: rotates pairs of a head's elements";
  let description = [{
    With `e < d / 2`: `y[.., e] = x[.., e] c[s, e] - x[.., e + d/2] z[s, e]` and
    `y[.., e + d/2] = x[.., e + d/2] c[s, e] + x[.., e] z[s, e]` (Su et al. 2021,
    in Hugging Face's order of elements). `x` is [batch, sequence, heads.., d]. The
    cosines `c` and sines `z` of the global positions are [sequence, d / 2] and are
    split as the sequence is. If each row has a position of its own, they are
    [batch, sequence, d / 2]. With `inverse`, the op rotates by the negative angles,
    which is its backward.

    Example:

    ```mlir
    %y = nn.rope %x, %cos, %sin
       : (tensor<2x8x4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x8x4x16xf32>
    ```
  }];
  let arguments = (ins NN_Heads:$input, NN_Angles:$cosines, NN_Angles:$sines, UnitAttr:$inverse);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
  let hasVerifier = 1;
}

def NN_CountedOp : NN_Op<"counted", [NN_TypedElement]> {
  let summary = "Mask of the labels that count: 1, or 0 where a label is negative";
  let description = [{
    Negative labels are ignored in the loss. Hugging Face uses -100 for them. Labels that
    are `except` do not count either.

    Example:

    ```mlir
    %m = nn.counted %labels as f32 : tensor<2x8xi32> -> tensor<2x8xf32>
    ```

    ```mlir
    %n = nn.counted %ids except 3 as f32 : tensor<2x8xi32> -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins NN_Indices:$labels, NN_FloatType:$element_type,
                       OptionalAttr<I64Attr>:$except);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = [{
    $labels (`except` $except^)? `as` $element_type attr-dict `:` type($labels) `->` type($output)
  }];
}

def NN_AttentionOp : NN_Op<"attention", [AttrSizedOperandSegments, NN_Differentiable, NN_Cost,
                                     NN_TypedElement]> {
  let summary = "Scaled dot-product attention per head";
  let description = [{
    `o = dropout(softmax(scale q k^T + mask)) v` (Vaswani et al. 2017), where q, k and v
    are [batch, sequence, heads, head size]. `lse` [batch, heads, sequence] is the
    log-sum-exp of the scores; only the backward reads it.

    `#nn.attention` holds the scale, the mask and what else a model says about scores.

    With grouped-query attention (Ainslie et al. 2023), the query and the output are
    [batch, sequence, key heads, queries per key head, head size], and `lse` is
    [batch, key heads, queries, sequence].

    A table [buckets, heads] adds a relative position bias (Raffel et al. 2020, section
    2.1): `table[bucket(j - i), n]` is added to the score of query i and key j. Half of
    the buckets are single distances. The rest cover growing ranges of distances up to
    `max_distance`, and the last also covers all that is farther. If not `causal`, half
    of the buckets are for keys before the query and half for keys after it. The bias
    is never stored as a tensor [heads, queries, keys], and every attention that reads
    the table has a gradient [buckets, heads] for it.

    `segments` [batch, queries] and [batch, keys] say which segment each query and key
    belongs to, such as the documents that are packed into a sequence (Krell et al.
    2021, section 3.2.2). A query sees only keys of its own segment. Segment -1 is
    padding: its queries see no key, and no query sees its keys. For a query that sees
    no key, the output is 0, `lse` is -infinity, and the gradients are 0.

    Example:

    ```mlir
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25>
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```

    ```mlir
    %o, %lse = nn.attention %q, %k, %v <causal, scale = 0.25, window = 3>
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```

    ```mlir
    %o, %lse = nn.attention %q, %k, %v, %table <scale = 1.0, max_distance = 128>
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<32x4xf32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```

    ```mlir
    %o, %lse = nn.attention %q, %k, %v segments(%own, %others) <causal, scale = 1.0>
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8xi32>, tensor<2x8xi32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins NN_Heads:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       Optional<AnyRankedTensor>:$bias_table,
                       Optional<NN_Indices>:$query_segments,
                       Optional<NN_Indices>:$key_segments,
                       NN_AttentionAttr:$attention,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`,` $bias_table^)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    $attention attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_AttentionGradOp : NN_Op<"attention_grad", [AttrSizedOperandSegments, NN_Cost, NN_TypedElement]> {
  let summary = "Gradients of attention for query, key, value and bias table";
  let description = [{
    Recomputes the probabilities from `lse` block by block (Dao 2023).
  }];
  let arguments = (ins AnyRankedTensor:$grad, NN_Heads:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$output, AnyRankedTensor:$lse,
                       Optional<AnyRankedTensor>:$bias_table,
                       Optional<NN_Indices>:$query_segments,
                       Optional<NN_Indices>:$key_segments,
                       NN_AttentionAttr:$attention,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key,
                      AnyRankedTensor:$grad_value,
                      Optional<AnyRankedTensor>:$grad_bias_table);
  let assemblyFormat = [{
    $grad `,` $query `,` $key `,` $value `,` $output `,` $lse (`,` $bias_table^)?
    (`segments` `(` $query_segments^ `,` $key_segments `)`)?
    $attention attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_EmbeddingOp : NN_Op<"embedding", [NN_Differentiable, NN_TypedElement]> {
  let summary = "Looks up rows of a table";
  let description = [{
    `y[b, s, :] = table[ids[b, s], :]`. If the vocabulary is split, the results are
    partial sums: a rank has 0 for ids outside its slice of the table. Lookups of the id
    `padding` add nothing to the gradient of the table (`padding_idx` of PyTorch).

    Example:

    ```mlir
    %y = nn.embedding %ids, %table
       : (tensor<2x8xi32>, tensor<64x16xf32>) -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Indices:$ids, AnyRankedTensor:$table,
                       OptionalAttr<I64Attr>:$padding);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_EmbeddingGradOp : NN_Op<"embedding_grad", [NN_TypedElement]> {
  let summary = "Gradient of embedding for its table: sums the rows of g that have the same id";
  let arguments = (ins AnyRankedTensor:$grad, NN_Indices:$ids, AnyRankedTensor:$like);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `,` $ids `like` $like attr-dict `:` functional-type(operands, $output)";
}

// ------------------------------------------------------------------ loss

def NN_MaxOp : NN_Op<"max"> {
  let summary = "Maximum over the last dimension; has no gradient";
  let description = [{
    If the last dimension is split, the results are partial maxima (`M`).

    Example:

    ```mlir
    %m = nn.max %logits : tensor<2x8x64xf32> -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins NN_Rows:$input);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def NN_PickOp : NN_Op<"pick", [NN_Differentiable]> {
  let summary = "The logit of each label";
  let description = [{
    `y[b, s] = logits[b, s, labels[b, s]]`. If the vocabulary is split, a rank has 0 for
    labels outside its slice.

    Example:

    ```mlir
    %t = nn.pick %logits, %labels : (tensor<2x8x64xf32>, tensor<2x8xi32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins NN_Rows:$logits, NN_Indices:$labels);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_PickGradOp : NN_Op<"pick_grad"> {
  let summary = "Gradient of pick: g at the label, 0 elsewhere";
  let arguments = (ins AnyRankedTensor:$grad, NN_Indices:$labels, NN_Rows:$like);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `,` $labels `like` $like attr-dict `:` functional-type(operands, $output)";
}

def NN_LabelRankOp : NN_Op<"label_rank"> {
  let summary = "Rank of the label's logit: how many logits come before it";
  let description = [{
    `y[b, s] = #{v : l[v] > t or (l[v] = t and v < labels[b, s])}` with
    `l = logits[b, s]` and `t = target[b, s]`, the logit of the label, which `nn.pick`
    computes. The result is 0 if the label is the prediction: the first of the largest
    logits. NaN counts as larger. If the last dimension is split, the results are
    partial sums: each rank counts in its slice.

    Example:

    ```mlir
    %r = nn.label_rank %logits, %labels, %target : (tensor<2x8x64xf32>, tensor<2x8xi32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins NN_Rows:$logits, NN_Indices:$labels, AnyRankedTensor:$target);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

// ------------------------------------------------------------------ optimizer

def NN_AdamWOp : NN_Op<"adamw", [NN_TypedElement]> {
  let summary = "AdamW update of a parameter, from moments that are already updated";
  let description = [{
    `p - lr * (m * c1 / (sqrt(v * c2) + epsilon) + decay * p)` with the bias
    corrections `c1 = 1 / (1 - beta1^t)`, `c2 = 1 / (1 - beta2^t)` (Loshchilov
    and Hutter 2019). The typing rule refuses operands that are partial sums, such as
    moments of a gradient that has not been reduced.

    Example:

    ```mlir
    %p1 = nn.adamw %p, %m, %v, %lr, %c1, %c2 {epsilon = 1.0e-8 : f64, decay = 0.1 : f64}
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$param, AnyRankedTensor:$moment1, AnyRankedTensor:$moment2,
                       AnyRankedTensor:$lr, AnyRankedTensor:$correction1, AnyRankedTensor:$correction2,
                       F64Attr:$epsilon, F64Attr:$decay);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_CommitOp : NN_Op<"commit", [NN_TypedElement]> {
  let summary = "The new value of a parameter or moment if the step counts, "
                "else the old one";
  let description = [{
    `new` if `counts` is not 0, else `old`, bit for bit. The op selects instead of
    multiplying, so in a step that does not count nothing of `new` reaches the result,
    not even NaN. All ranks must make the same decision, so `counts` cannot be a
    partial sum.

    Example:

    ```mlir
    %p1 = nn.commit %counts, %new, %p : (tensor<f32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$counts, AnyRankedTensor:$updated, AnyRankedTensor:$old);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

// ------------------------------------------------------------------ structure

def NN_MicroBatchesOp : Op<NN_Dialect, "micro_batches",
    [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its body once per micro-batch and sums the values that it yields";
  let description = [{
    Dimension 0 of each `data` operand is the micro-batch; the block arguments are the
    slices of micro-batch `i`. The body may also use all values defined before the op.
    The results are the sums of the yielded values over all micro-batches, added in
    order. A result has the distribution of the value that is yielded for it.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count, Variadic<AnyRankedTensor>:$data);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count `of` `(` $data `)` attr-dict-with-keyword `:` functional-type($data, $results) $body
  }];
  let hasVerifier = 1;
}

def NN_YieldOp : Op<NN_Dialect, "yield",
    [Pure, Terminator, ReturnLike, HasParent<"MicroBatchesOp">]> {
  let summary = "Ends the body of `nn.micro_batches` with the values to sum";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)$_builder; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // TESSERA_DIALECT_NN_NNMODELOPS_TD
