// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @draws_without_logits(%x: tensor<1x4x61xf32>, %n: tensor<1x4xf32>, %d: tensor<1x4x3xi32>, %i: i64) {
  // expected-error @+1 {{makes 'tensor<1x4x1x2xf32>' of 'tensor<1x4x61xf32>'; each row has a list of candidates of 3 numbers}}
  %y = rt.top %x from %i valid %i draw %n, %d : tensor<1x4xf32>, tensor<1x4x3xi32> {total = 61 : i64} : tensor<1x4x61xf32> -> tensor<1x4x1x2xf32>
  return
}

// -----

func.func @other_rows(%x: tensor<1x4x61xf32>, %i: i64) {
  // expected-error @+1 {{makes 'tensor<1x3x5x2xf32>' of 'tensor<1x4x61xf32>'}}
  %y = rt.top %x from %i valid %i {total = 61 : i64} : tensor<1x4x61xf32> -> tensor<1x3x5x2xf32>
  return
}

// -----

func.func @shorter_lists(%x: tensor<2x4x5x2xf32>) {
  // expected-error @+1 {{makes 'tensor<1x4x4x2xf32>' of 'tensor<2x4x5x2xf32>'; dimension 0 must be a part's, and all others must be equal}}
  %y = rt.merge_top %x : tensor<2x4x5x2xf32> -> tensor<1x4x4x2xf32>
  return
}
