//===- NNMathOps.td - products, sums, maps and shapes ------*- tablegen -*-===//

#ifndef TESSERA_DIALECT_NN_NNMATHOPS_TD
#define TESSERA_DIALECT_NN_NNMATHOPS_TD

include "tessera/Dialect/NN/NNBase.td"

def NN_EinsumOp : NN_Op<"einsum", [NN_Differentiable, NN_Cost, NN_TypedElement, NN_ProductPrecision]> {
  let summary = "Einstein summation: products, summed over the factors that the result lacks";
  let description = [{
    `y = scale * sum x1 * x2 * ...`: matrix products, elementwise products and sums. In
    the spec, as in `numpy.einsum`, a letter names a factor; each factor of the result
    is a factor of an operand. The result has `element_type` or, if that is absent, the
    element type of the first operand. If `compute` is given, a contraction (a matrix
    product) first rounds its operands to that type; it still accumulates in f32.

    Example:

    ```mlir
    %y = nn.einsum "bsh,hf->bsf" %x, %w {compute = bf16}
       : (tensor<2x8x16xf32>, tensor<16x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, Variadic<AnyRankedTensor>:$inputs,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale,
                       OptionalAttr<NN_FloatType>:$element_type,
                       OptionalAttr<NN_FloatType>:$compute);
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
    `y = sum c_k x_k`. Every operand is broadcast to the factors of the result, which has
    the element type of the first operand. The coefficients `coefs` are 1 if absent.

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
  let summary = "Broadcasts a tensor to the shape of another";
  let description = [{
    `y = x`, repeated along the factors that only `like` has. Only the shape of `like`
    is read. This is the backward of a sum.

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
  let summary = "Applies a function to every element";
  let description = [{
    `y = f(x)`. `gelu_tanh` is `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`
    and `gelu` is `0.5 x (1 + erf(x / sqrt 2))` (Hendrycks and Gimpel 2016);
    `clip_factor` is `min(1, bound / x)`, the factor that clips a norm `x`;
    `rsqrt` is `1 / sqrt(x + bound)`; `silu` is `x / (1 + exp(-x))` (Elfwing et
    al. 2017); `is_finite` is 1 for a number and 0 for infinity and NaN; `sign`
    is -1, 0 or 1; `sigmoid` is `1 / (1 + exp(-x))`.

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
    mask is the same on every mesh. The backward is the same op on the gradient.

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
  let summary = "A constant scalar";
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
  let summary = "Cuts a tensor into its slices along one dimension, which must not be sharded";
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
    `y[i, :] = x[i, :]` for `i < rows`. It takes the positions that a sequence uses from
    a table of positions.

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

#endif // TESSERA_DIALECT_NN_NNMATHOPS_TD
