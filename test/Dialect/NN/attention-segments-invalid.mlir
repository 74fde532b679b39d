// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!x = tensor<2x8x4x16xf32, #dist<cp: S(1), dp: S(0)>>
!k = tensor<2x8x4x16xf32, #dist<cp: R, dp: S(0)>>
!lse = tensor<2x4x8xf32, #dist<cp: S(2), dp: S(0)>>
!own = tensor<2x8xi32, #dist<cp: S(1), dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, cp = 2>} {
  func.func @split_keys_of_whole_ones(%q: !x, %k: !k, %own: !own) {
    // expected-error @+2 {{refuses S(1), R, R, S(1), S(1) on axis 'cp'}}
    // expected-note @+1 {{operand 4 shards dimension 1, which this op needs whole: all_gather it first}}
    %o, %lse = nn.attention %q, %k, %k segments(%own, %own) <causal, scale = 0.25>
        : (!x, !k, !k, !own, !own) -> (!x, !lse)
    return
  }
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @fewer_than_queries(%x: !x, %s: tensor<2x8xi32>, %few: tensor<2x7xi32>) {
  // expected-error @+1 {{sizes 8 and 7 of factor 's' differ}}
  %o, %lse = nn.attention %x, %x, %x segments(%few, %s) <causal, scale = 0.25>
      : (!x, !x, !x, tensor<2x7xi32>, tensor<2x8xi32>) -> (!x, tensor<2x4x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @queries_alone(%x: !x, %s: tensor<2x8xi32>) {
  // expected-error @+1 {{has segments of queries alone; give those of queries and of keys}}
  %o, %lse = "nn.attention"(%x, %x, %x, %s) <{attention = #nn.attention<causal, scale = 0.25>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}>
      : (!x, !x, !x, tensor<2x8xi32>) -> (!x, tensor<2x4x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
func.func @segments_of_other_keys(%x: !x, %s: tensor<2x8xi32>, %t: tensor<2x6xi32>) {
  // expected-error @+1 {{sizes 8 and 6 of factor 't' differ}}
  %o, %lse = nn.attention %x, %x, %x segments(%s, %t) <causal, scale = 1.0>
      : (!x, !x, !x, tensor<2x8xi32>, tensor<2x6xi32>) -> (!x, tensor<2x4x8xf32>)
  return
}
