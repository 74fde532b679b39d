// Rows are of the heads of a cache, and each has a slot and a position.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!c = tensor<1x4x16x2x8xf32>
!s = tensor<1x6xi32>
func.func @rows_of_other_heads(%c: !c, %r: tensor<1x6x3x8xf32>, %s: !s) {
  // expected-error @+1 {{has a cache of 1 x 4 x 16 x 2 x 8; beside the others it must be 1 x 4 x 16 x 3 x 8}}
  %a = rt.append %r at %s, %s into %c {row = 24 : i64} : tensor<1x6x3x8xf32>, !s, !s, !c -> !c
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!s = tensor<1x6xi32>
func.func @rounded_rows(%c: !c, %r: tensor<1x6x2x8xbf16>, %s: !s) {
  // expected-error @+1 {{has rows of 'bf16' but a cache of 'f32'; they must be of one type}}
  %a = rt.append %r at %s, %s into %c {row = 16 : i64} : tensor<1x6x2x8xbf16>, !s, !s, !c -> !c
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!r = tensor<1x6x2x8xf32>
!s = tensor<1x6xi32>
func.func @positions_of_fewer_rows(%c: !c, %r: !r, %s: !s, %p: tensor<1x5xi32>) {
  // expected-error @+1 {{has positions of 1 x 5; beside the others it must be 1 x 6}}
  %a = rt.append %r at %s, %p into %c {row = 16 : i64} : !r, !s, tensor<1x5xi32>, !c -> !c
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!q = tensor<1x6x2x8xf32>
!s = tensor<1x6xi32>
func.func @fewer_values_than_keys(%c: !c, %v: tensor<1x4x12x2x8xf32>, %q: !q, %s: !s) {
  // expected-error @+1 {{has values of 1 x 4 x 12 x 2 x 8; beside the others it must be 1 x 4 x 16 x 2 x 8}}
  %o = rt.cached_attention %q, %c, %v at %s, %s <causal, scale = 1.0> {row = 16 : i64}
      : (!q, !c, tensor<1x4x12x2x8xf32>, !s, !s) -> !q
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!q = tensor<1x6x2x4xf32>
!s = tensor<1x6xi32>
func.func @smaller_heads(%c: !c, %q: !q, %s: !s) {
  // expected-error @+1 {{has keys of 1 x 4 x 16 x 2 x 8; beside the others it must be 1 x 4 x 16 x 2 x 4}}
  %o = rt.cached_attention %q, %c, %c at %s, %s <causal, scale = 1.0> {row = 8 : i64}
      : (!q, !c, !c, !s, !s) -> !q
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!q = tensor<1x6x2x8xf32>
!s = tensor<1x6xi32>
func.func @biases_of_other_heads(%c: !c, %q: !q, %s: !s, %t: tensor<8x3xf32>) {
  // expected-error @+1 {{has a table of biases of 8 x 3; beside the others it must be 8 x 2}}
  %o = rt.cached_attention %q, %c, %c at %s, %s bias %t <causal, scale = 1.0, max_distance = 9> {row = 16 : i64}
      : (!q, !c, !c, !s, !s, tensor<8x3xf32>) -> !q
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!q = tensor<1x6x2x8xf32>
!s = tensor<1x6xi32>
func.func @outputs_of_fewer_rows(%c: !c, %q: !q, %s: !s) {
  // expected-error @+1 {{the last dimension must be 8 and the others the same}}
  %o = rt.cached_attention %q, %c, %c at %s, %s <causal, scale = 1.0> {row = 16 : i64}
      : (!q, !c, !c, !s, !s) -> tensor<1x5x2x8xf32>
  return
}

// -----

!c = tensor<1x4x16x2x8xf32>
!q = tensor<1x6x2x8xf32>
!s = tensor<1x6xi32>
func.func @biases_after_the_row(%c: !c, %q: !q, %s: !s, %t: tensor<8x2xf32>) {
  // expected-error @+1 {{adds biases by distance but is not causal; a row reads no keys after it}}
  %o = rt.cached_attention %q, %c, %c at %s, %s bias %t <scale = 1.0, max_distance = 9> {row = 16 : i64}
      : (!q, !c, !c, !s, !s, tensor<8x2xf32>) -> !q
  return
}
