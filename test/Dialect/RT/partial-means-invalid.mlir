// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @heads_without_weights(%q: tensor<1x6x2x8xf32>, %k: tensor<1x4x16x2x8xf32>, %s: tensor<1x6xi32>) {
  // expected-error @+1 {{makes 'tensor<1x6x2x8xf32>' of heads 'tensor<1x6x2x8xf32>'; the last dimension must be 9}}
  %y = rt.cached_attention %q, %k, %k at %s, %s <causal, scale = 1.0> {row = 16 : i64, weighted} : (tensor<1x6x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x4x16x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x2x8xf32>
  return
}

// -----

func.func @other_rows(%x: tensor<2x6x9xf32>) {
  // expected-error @+1 {{makes 'tensor<1x5x8xf32>' of 'tensor<2x6x9xf32>'; dimension 0 must be a part's, and the last one with its weight or without}}
  %y = rt.merge_means %x : tensor<2x6x9xf32> -> tensor<1x5x8xf32>
  return
}

// -----

func.func @parts_of_a_part(%x: tensor<3x6x9xf32>) {
  // expected-error @+1 {{makes 'tensor<2x6x9xf32>' of 'tensor<3x6x9xf32>'}}
  %y = rt.merge_means %x : tensor<3x6x9xf32> -> tensor<2x6x9xf32>
  return
}
