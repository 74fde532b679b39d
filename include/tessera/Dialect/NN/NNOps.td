//===- NNOps.td - a Transformer as pure ops on tensors -----*- tablegen -*-===//
// Shapes are global. Dimensions are named by letters ("factors"): equal letters
// of one op are the same dimension and are split alike.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNOPS_TD
#define TESSERA_DIALECT_NN_NNOPS_TD

include "tessera/Dialect/Dist/DistInterfaces.td"
include "tessera/Dialect/NN/NNInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::tessera::nn";
  let summary = "Transformers as pure ops on tensors with global shapes";
  let description = [{
    Parameters are function arguments with the attributes `nn.param` (their name
    in checkpoints), `nn.dims` (a letter per dimension, from which plans choose
    their sharding: `b` batch, `s` sequence, `h` hidden, `c` one of query, key,
    value, `n` heads, `d` head size, `f` feed-forward, `v` vocabulary, `p`
    positions), `nn.init`, `nn.file_shape`, `nn.decay`. Data are arguments with
    `nn.data`.
  }];
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kParamAttr = "nn.param";
    static constexpr ::llvm::StringLiteral kDataAttr = "nn.data";
    static constexpr ::llvm::StringLiteral kDimsAttr = "nn.dims";
    static constexpr ::llvm::StringLiteral kInitAttr = "nn.init";
    static constexpr ::llvm::StringLiteral kFileShapeAttr = "nn.file_shape";
    static constexpr ::llvm::StringLiteral kDecayAttr = "nn.decay";
    static constexpr ::llvm::StringLiteral kRoleAttr = "nn.role";
    static constexpr ::llvm::StringLiteral kTagAttr = "nn.tag";
    static constexpr ::llvm::StringLiteral kPhaseAttr = "nn.phase";
    static constexpr ::llvm::StringLiteral kModelAttr = "nn.model";
  }];
}

def NN_Function : I32EnumAttr<"Function", "pointwise function", [
    I32EnumAttrCase<"GeluTanh", 0, "gelu_tanh">,
    I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Relu", 2, "relu">,
    I32EnumAttrCase<"Exp", 3, "exp">,
    I32EnumAttrCase<"Log", 4, "log">,
    I32EnumAttrCase<"Sqrt", 5, "sqrt">,
    I32EnumAttrCase<"Reciprocal", 6, "reciprocal">,
    I32EnumAttrCase<"ClipFactor", 7, "clip_factor">,
    I32EnumAttrCase<"Rsqrt", 8, "rsqrt">]> {
  let cppNamespace = "::tessera::nn";
}

def NN_Rows : RankedTensorOf<[AnyType], [HasRankGreaterOrEqualPred<1>],
                             "ranked tensor with at least 1 dimension">;
def NN_Matrix : RankedTensorOf<[AnyType], [HasAnyRankOfPred<[2]>], "matrix">;
def NN_Indices : RankedTensorOf<[I32], [], "ranked tensor of indices">;
def NN_FloatType : TypeAttrOf<AnyFloat>;

class NN_Op<string mnemonic, list<Trait> traits = []> :
    Op<NN_Dialect, mnemonic, !listconcat([Pure,
       DeclareOpInterfaceMethods<DistributableOpInterface>], traits)>;

defvar NN_Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar NN_Cost = DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
defvar NN_TypedElement = DeclareOpInterfaceMethods<DistributableOpInterface,
                                                   ["getResultElementType"]>;
defvar NN_Precision = DeclareOpInterfaceMethods<PrecisionOpInterface>;

// ------------------------------------------------------------------ products

def NN_EinsumOp : NN_Op<"einsum", [NN_Differentiable, NN_Cost, NN_TypedElement, NN_Precision]> {
  let summary = "Products summed over the factors that the result lacks";
  let description = [{
    `y = scale * sum x1 * x2 * ...` in Einstein's notation: matrix products,
    elementwise products, sums. Every factor of the result is in an operand.
    `element_type` is the result's (the first operand's when it is absent).
    A contraction (a matrix product) rounds its operands to `compute` first
    where that is given; it adds in f32 all the same.

    Example:

    ```mlir
    %y = nn.einsum "bsh,hf->bsf" %x, %w {compute = bf16}
       : (tensor<2x8x16xf32>, tensor<16x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, Variadic<AnyRankedTensor>:$inputs,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale,
                       OptionalAttr<TypeAttr>:$element_type,
                       OptionalAttr<TypeAttr>:$compute);
  let results = (outs AnyRankedTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Type":$output, "::mlir::StringAttr":$spec,
                                 "::mlir::ValueRange":$inputs, "::mlir::FloatAttr":$scale,
                                 "::mlir::TypeAttr":$element_type), [{
    build($_builder, $_state, output, spec, inputs, scale, element_type, ::mlir::TypeAttr());
  }]>];
  let extraClassDeclaration = [{
    /// A matrix product: two operands that share a factor which the result
    /// lacks, each with a factor of its own in the result.
    bool isContraction();
  }];
  let assemblyFormat = "$spec $inputs attr-dict `:` functional-type($inputs, $output)";
  let hasVerifier = 1;
}

def NN_AddOp : NN_Op<"add", [NN_Differentiable]> {
  let summary = "Linear combination with broadcasting";
  let description = [{
    `y = sum c_k x_k`, every operand broadcast to the result's factors, in the
    element type of the first operand. `coefs` are 1 when absent.

    Example:

    ```mlir
    %y = nn.add "bsf,f->bsf" %x, %bias
       : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, Variadic<AnyRankedTensor>:$inputs,
                       OptionalAttr<DenseF64ArrayAttr>:$coefs);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$spec $inputs attr-dict `:` functional-type($inputs, $output)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    double getCoefficient(unsigned operand) {
      return getCoefs() ? (*getCoefs())[operand] : 1.0;
    }
  }];
}

def NN_BroadcastOp : NN_Op<"broadcast"> {
  let summary = "Repeats a tensor along the factors that another has";
  let description = [{
    `y = x` broadcast to the shape of `like`, which lends only its shape. The
    backward of a sum.

    Example:

    ```mlir
    %y = nn.broadcast "bs,bsv->bsv" %g like %x
       : (tensor<2x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, AnyRankedTensor:$input, AnyRankedTensor:$like);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$spec $input `like` $like attr-dict `:` functional-type(operands, $output)";
  let hasVerifier = 1;
}

// ------------------------------------------------------------------ pointwise

def NN_MapOp : NN_Op<"map", [NN_Differentiable]> {
  let summary = "A function of every element";
  let description = [{
    `y = f(x)`. `gelu_tanh` is `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`
    and `gelu` is `0.5 x (1 + erf(x / sqrt 2))` (Hendrycks and Gimpel 2016);
    `clip_factor` is `min(1, bound / x)`, the factor that clips a norm `x`;
    `rsqrt` is `1 / sqrt(x + bound)`.

    Example:

    ```mlir
    %y = nn.map gelu_tanh %x : tensor<2x8x64xf32> -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins NN_Function:$function, AnyRankedTensor:$input,
                       OptionalAttr<F64Attr>:$bound);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$function $input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def NN_MapGradOp : NN_Op<"map_grad"> {
  let summary = "Gradient of map: g f'(x)";
  let description = [{
    Example:

    ```mlir
    %dx = nn.map_grad gelu_tanh %g, %x
        : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins NN_Function:$function, AnyRankedTensor:$grad, AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$function $grad `,` $input attr-dict `:` functional-type(operands, $output)";
  let hasVerifier = 1;
}

def NN_CastOp : NN_Op<"cast", [NN_Differentiable, NN_TypedElement]> {
  let summary = "Rounds or widens every element";
  let description = [{
    Example:

    ```mlir
    %y = nn.cast %x to bf16 : tensor<2x8xf32> -> tensor<2x8xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, NN_FloatType:$to);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input `to` $to attr-dict `:` type($input) `->` type($output)";
}

def NN_DropoutOp : NN_Op<"dropout", [NN_Differentiable]> {
  let summary = "Zeroes elements at random, scales the others by 1 / (1 - p)";
  let description = [{
    Keeps an element where `philox(index, key(seed, step, stream)) >= p 2^32`;
    `index` is the element's global row-major index in the global batch, so the
    mask is the same on every mesh. Its own backward.

    Example:

    ```mlir
    %y = nn.dropout %x {p = 0.1 : f64, stream = 3 : i64} : tensor<2x8xf32> -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, F64Attr:$p, I64Attr:$stream);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def NN_ConstantOp : NN_Op<"constant", [NN_TypedElement]> {
  let summary = "A scalar that every rank knows";
  let description = [{
    Example:

    ```mlir
    %one = nn.constant 1.000000e+00 f32 : tensor<f32>
    ```
  }];
  let arguments = (ins F64Attr:$value, NN_FloatType:$element_type);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$value $element_type attr-dict `:` type($output)";
}

// ------------------------------------------------------------------ shape

def NN_UnstackOp : NN_Op<"unstack", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["needsEveryGradient"]>]> {
  let summary = "Cuts a tensor into its slices along one whole dimension";
  let description = [{
    Result `i` is `x` at index `i` of dimension `dim`, which disappears.

    Example:

    ```mlir
    %q, %k, %v = nn.unstack %qkv along 2 : tensor<2x8x3x4x16xf32>
        -> tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = "$input `along` $dim attr-dict `:` type($input) `->` type($outputs)";
  let hasVerifier = 1;
}

def NN_StackOp : NN_Op<"stack", [
    DeclareOpInterfaceMethods<DistributableOpInterface, ["getNewFactorSize"]>]> {
  let summary = "Joins tensors of one shape along a new dimension";
  let description = [{
    Example:

    ```mlir
    %dqkv = nn.stack %dq, %dk, %dv along 2
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x3x4x16xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$inputs `along` $dim attr-dict `:` functional-type($inputs, $output)";
  let hasVerifier = 1;
}

def NN_PrefixOp : NN_Op<"prefix", [
    NN_Differentiable,
    DeclareOpInterfaceMethods<DistributableOpInterface, ["getNewFactorSize"]>]> {
  let summary = "The first rows of a matrix";
  let description = [{
    `y[i, :] = x[i, :]` for `i < rows`: the positions that a sequence uses.

    Example:

    ```mlir
    %y = nn.prefix %x rows 8 : tensor<32x16xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins NN_Matrix:$input, I64Attr:$rows);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$input `rows` $rows attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def NN_PrefixGradOp : NN_Op<"prefix_grad"> {
  let summary = "Gradient of prefix: the rows of g, then zeros";
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$like);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `like` $like attr-dict `:` functional-type(operands, $output)";
}

// ------------------------------------------------------------------ model

def NN_LayerNormOp : NN_Op<"layer_norm", [NN_Differentiable, NN_TypedElement, NN_Precision]> {
  let summary = "Normalizes the last dimension";
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
                       OptionalAttr<TypeAttr>:$element_type);
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

def NN_AttentionOp : NN_Op<"attention", [NN_Differentiable, NN_Cost, NN_TypedElement]> {
  let summary = "Scaled dot-product attention per head";
  let description = [{
    `o = dropout(softmax(scale q k^T + mask)) v` (Vaswani et al. 2017), q, k, v
    of shape [batch, sequence, heads, head size]; `causal` masks keys behind the
    query by global position. `lse` [batch, heads, sequence] is the log-sum-exp
    of the scores, read by the backward only.

    Example:

    ```mlir
    %o, %lse = nn.attention %q, %k, %v {causal, scale = 0.25 : f64}
        : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
        -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
                       F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$lse);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_AttentionGradOp : NN_Op<"attention_grad", [NN_Cost]> {
  let summary = "Gradients of attention for query, key and value";
  let description = [{
    Recomputes the probabilities from `lse` block by block (Dao 2023).
  }];
  let arguments = (ins AnyRankedTensor:$grad, AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, AnyRankedTensor:$output, AnyRankedTensor:$lse,
                       F64Attr:$scale, UnitAttr:$causal,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout,
                       DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key,
                      AnyRankedTensor:$grad_value);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_EmbeddingOp : NN_Op<"embedding", [NN_Differentiable, NN_TypedElement]> {
  let summary = "Rows of a table by index";
  let description = [{
    `y[b, s, :] = table[ids[b, s], :]`. A split vocabulary gives addends: a rank
    holds 0 for indices outside its slice.

    Example:

    ```mlir
    %y = nn.embedding %ids, %table
       : (tensor<2x8xi32>, tensor<64x16xf32>) -> tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins NN_Indices:$ids, AnyRankedTensor:$table);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $output)";
}

def NN_EmbeddingGradOp : NN_Op<"embedding_grad", [NN_TypedElement]> {
  let summary = "Gradient of embedding for its table: adds g's rows by index";
  let arguments = (ins AnyRankedTensor:$grad, NN_Indices:$ids, AnyRankedTensor:$like);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$grad `,` $ids `like` $like attr-dict `:` functional-type(operands, $output)";
}

// ------------------------------------------------------------------ loss

def NN_MaxOp : NN_Op<"max"> {
  let summary = "Maximum over the last dimension; a constant for differentiation";
  let description = [{
    Split there, it leaves partial maxima (`M`).

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
  let summary = "The element of the last dimension that a label names";
  let description = [{
    `y[b, s] = logits[b, s, labels[b, s]]`; 0 on ranks whose slice lacks it.

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

// ------------------------------------------------------------------ optimizer

def NN_AdamWOp : NN_Op<"adamw", [NN_TypedElement]> {
  let summary = "One AdamW update of a parameter from its updated moments";
  let description = [{
    `p - lr * (m * c1 / (sqrt(v * c2) + epsilon) + decay * p)` with the bias
    corrections `c1 = 1 / (1 - beta1^t)`, `c2 = 1 / (1 - beta2^t)` (Loshchilov
    and Hutter 2019). A gradient that is still partial cannot reach it.

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

// ------------------------------------------------------------------ structure

def NN_MicroBatchesOp : Op<NN_Dialect, "micro_batches",
    [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its body once per micro-batch and adds what it yields";
  let description = [{
    The body sees micro-batch `i` of every `data` operand (dimension 0 of the
    operand counts micro-batches) as block arguments, and everything defined
    before the op. Results are the sums of the yielded values over all
    micro-batches, in order; adding keeps a distribution.
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
  let summary = "Ends the body of micro_batches";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)$_builder; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // TESSERA_DIALECT_NN_NNOPS_TD
