// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_dimension_of_heads(%q: tensor<2x8x16xf32>, %i: i64) {
  // expected-error @+1 {{has an operand or result of rank 3; it must be 4: batch, sequence, heads, head size}}
  %o, %lse = rt.attention %q, %q, %q, %i, %i
      <causal, scale = 1.0> {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64,
      dropout = 0.0 : f64, stream = 0
      : i64} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, i64, i64) -> (tensor<2x8x16xf32>,
      tensor<2x1x8xf32>)
  return
}

// -----

!x = tensor<2x8x1x16xf32>
func.func @start_is_narrow(%q: !x, %i: i32) {
  // expected-error @+1 {{operand #3 must be 64-bit signless integer, but got 'i32'}}
  %o, %lse = rt.attention %q, %q, %q, %i, %i
      <causal, scale = 1.0> {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64,
      dropout = 0.0 : f64, stream = 0 : i64} : (!x, !x, !x, i32, i32) -> (!x, tensor<2x1x8xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @other_head_size_of_values(%q: !x, %k: !x, %v: tensor<2x8x4x8xf32>, %i: i64) {
  // expected-error @+1 {{has values of 2 x 8 x 4 x 8; beside the others it must be 2 x 8 x 4 x 16}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, tensor<2x8x4x8xf32>, i64, i64) -> (tensor<2x8x4x8xf32>, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @fewer_values_than_keys(%q: !x, %k: !x, %v: tensor<2x4x4x16xf32>, %i: i64) {
  // expected-error @+1 {{has values of 2 x 4 x 4 x 16; beside the others it must be 2 x 8 x 4 x 16}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, tensor<2x4x4x16xf32>, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @keys_of_other_heads(%q: !x, %k: tensor<2x8x2x16xf32>, %v: tensor<2x8x2x16xf32>, %i: i64) {
  // expected-error @+1 {{has keys of 2 x 8 x 2 x 16; beside the others it must be 2 x 8 x 4 x 16}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, tensor<2x8x2x16xf32>, tensor<2x8x2x16xf32>, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @keys_of_another_batch(%q: !x, %k: tensor<3x8x4x16xf32>, %v: !x, %i: i64) {
  // expected-error @+1 {{has keys of 3 x 8 x 4 x 16; beside the others it must be 2 x 8 x 4 x 16}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, tensor<3x8x4x16xf32>, !x, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @grouped_keys(%q: !x, %k: tensor<2x8x2x2x16xf32>, %v: !x, %i: i64) {
  // expected-error @+1 {{has keys of rank 5; it must be 4: batch, sequence, heads, head size}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, tensor<2x8x2x2x16xf32>, !x, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @rounded_values(%q: !x, %k: !x, %v: tensor<2x8x4x16xbf16>, %i: i64) {
  // expected-error @+1 {{has queries of 'f32' but values of 'bf16'; they must be of one type}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, tensor<2x8x4x16xbf16>, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @shorter_outputs(%q: !x, %k: !x, %v: !x, %i: i64) {
  // expected-error @+1 {{has outputs of 2 x 4 x 4 x 16; beside the others it must be 2 x 8 x 4 x 16}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, i64, i64) -> (tensor<2x4x4x16xf32>, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @lse_in_another_order(%q: !x, %k: !x, %v: !x, %i: i64) {
  // expected-error @+1 {{has lse of 2 x 8 x 4; beside the others it must be 2 x 4 x 8}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, i64, i64) -> (!x, tensor<2x8x4xf32>)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @rows_of_keys_overlap(%q: !x, %k: !x, %v: !x, %i: i64) {
  // expected-error @+1 {{has a row of keys every 32 elements, but a row has 64; use a stride of at least that}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i
      <causal, scale = 0.25> {row_q = 64 : i64, row_k = 32 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, i64, i64) -> (!x, !l)
  return
}

// -----

!x = tensor<2x8x4x16xf32>
!l = tensor<2x4x8xf32>
func.func @biases_of_other_heads(%q: !x, %k: !x, %v: !x, %i: i64, %t: tensor<8x3xf32>) {
  // expected-error @+1 {{has a table of biases of 8 x 3; beside the others it must be 8 x 4}}
  %o, %lse = rt.attention %q, %k, %v, %i, %i bias(%t)
      <causal, scale = 0.25, max_distance = 16> {row_q = 64 : i64, row_k = 64 : i64, row_v = 64 : i64, heads_total = 4 : i64,
      dropout = 0.0 : f64, stream = 0 : i64}
      : (!x, !x, !x, i64, i64, tensor<8x3xf32>) -> (!x, !l)
  return
}
