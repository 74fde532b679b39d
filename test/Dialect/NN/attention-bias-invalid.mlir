// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @a_distance_without_table(%x: !x) {
  // expected-error @+1 {{has max_distance = 128 but no table of biases; give both or none}}
  %o, %lse = nn.attention %x, %x, %x <scale = 1.0, max_distance = 128> : (!x, !x, !x) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @too_near(%x: !x, %t: tensor<32x4xf32>) {
  // expected-error @+1 {{has 32 buckets to distance 8; it needs an even number, at least 4 and a distance above 8}}
  %o, %lse = nn.attention %x, %x, %x, %t <scale = 1.0, max_distance = 8>
      : (!x, !x, !x, tensor<32x4xf32>) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @one_bucket(%x: !x, %t: tensor<1x4xf32>) {
  // expected-error @+1 {{has 1 buckets to distance 128; it needs at least 2 and a distance above 1}}
  %o, %lse = nn.attention %x, %x, %x, %t <causal, scale = 1.0, max_distance = 128>
      : (!x, !x, !x, tensor<1x4xf32>) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @heads_of_another_model(%x: !x, %t: tensor<32x3xf32>) {
  // expected-error @+1 {{sizes 4 and 3 of factor 'n' differ}}
  %o, %lse = nn.attention %x, %x, %x, %t <scale = 1.0, max_distance = 128>
      : (!x, !x, !x, tensor<32x3xf32>) -> (!x, !l)
  return
}

// -----

func.func @grouped_heads(%q: tensor<2x8x2x3x16xf32>, %x: tensor<2x8x2x16xf32>, %t: tensor<32x6xf32>) {
  // expected-error @+1 {{adds biases of a table of type 'tensor<32x6xf32>'; it must be [buckets, heads], and heads must not be in groups}}
  %o, %lse = nn.attention %q, %x, %x, %t <scale = 1.0, max_distance = 128>
      : (tensor<2x8x2x3x16xf32>, tensor<2x8x2x16xf32>, tensor<2x8x2x16xf32>, tensor<32x6xf32>)
      -> (tensor<2x8x2x3x16xf32>, tensor<2x2x3x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @no_gradient_of_the_table(%x: !x, %l: !l, %t: tensor<32x4xf32>) {
  // expected-error @+1 {{has a table of biases or its gradient alone; give both or none}}
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %x, %x, %l, %t <scale = 1.0, max_distance = 128>
      : (!x, !x, !x, !x, !x, !l, tensor<32x4xf32>) -> (!x, !x, !x)
  return
}

// -----

!x = tensor<2x8x4x16xf32, #dist<tp: S(2)>>
!l = tensor<2x4x8xf32, #dist<tp: S(1)>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @biases_of_all_heads_for_some(%x: !x, %t: tensor<32x4xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(2), S(2), S(2), R on axis 'tp'}}
    // expected-note @+1 {{only one factor may be sharded, alike in all operands}}
    %o, %lse = nn.attention %x, %x, %x, %t <scale = 1.0, max_distance = 128>
        : (!x, !x, !x, tensor<32x4xf32, #dist<tp: R>>) -> (!x, !l)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32, #dist<tp: R>>
!l = tensor<2x4x8xf32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @some_buckets(%x: !x, %t: tensor<32x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+2 {{refuses R, R, R, S(0) on axis 'tp'}}
    // expected-note @+1 {{operand 3 shards dimension 0, which this op needs whole: all_gather it first}}
    %o, %lse = nn.attention %x, %x, %x, %t <scale = 1.0, max_distance = 128>
        : (!x, !x, !x, tensor<32x4xf32, #dist<tp: S(0)>>) -> (!x, !l)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32, #dist<dp: S(0)>>
!l = tensor<2x4x8xf32, #dist<dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @the_gradient_is_not_reduced_yet(%x: !x, %l: !l, %t: tensor<32x4xf32, #dist<dp: R>>) {
    // expected-error @+1 {{has result type 'tensor<32x4xf32>', but its operands give 'tensor<32x4xf32, #dist<dp: P>>'}}
    %dq, %dk, %dv, %dt = nn.attention_grad %x, %x, %x, %x, %x, %l, %t <scale = 1.0, max_distance = 128>
        : (!x, !x, !x, !x, !x, !l, tensor<32x4xf32, #dist<dp: R>>) -> (!x, !x, !x, tensor<32x4xf32>)
    return
  }
}
