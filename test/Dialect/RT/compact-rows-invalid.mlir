// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @other_columns(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<4x8x2xf32>) {
  // expected-error @+1 {{makes 'tensor<64x8xf32>' of 'tensor<32x16xf32>'; both must be [rows, columns], of the same columns}}
  %s = rt.exchange_rows %r by %g to %h over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<4x8x2xf32>) -> tensor<64x8xf32>
  return
}

// -----

func.func @other_tokens(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<6x8x2xf32>) {
  // expected-error @+1 {{goes from gates 'tensor<2x8x4xf32>' to 'tensor<6x8x2xf32>'; one side must have the tokens of as many ranks as the other has their experts}}
  %s = rt.exchange_rows %r by %g to %h over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<6x8x2xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func @same_side(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{goes from gates 'tensor<2x8x4xf32>' to 'tensor<2x8x4xf32>'}}
  %s = rt.exchange_rows %r by %g to %g over ["ep"]
      : (tensor<32x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  return
}

// -----

func.func @not_expanded(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{makes 'tensor<64x16xf32>' of 'tensor<32x16xf32>'; it makes [experts, .., columns] of [rows, columns]}}
  %e = rt.expand_rows %r by %g : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<64x16xf32>
  return
}

// -----

func.func @expanded_by_other_gates(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{routes rows 'tensor<3x2x8x16xf32>' by gates 'tensor<2x8x4xf32>'}}
  %e = rt.expand_rows %r by %g : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<3x2x8x16xf32>
  return
}

// -----

func.func @dispatched_in_rounds(%t: tensor<2x8x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{is of round 1; only products of compact rows are}}
  %r = rt.routed dispatch %t, %g {k = 2 : i64, total = 4 : i64, round = 1 : i64} : (tensor<2x8x16xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  return
}

// -----

func.func @nothing_to_add_to(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has 3 inputs; 'product_grad_weight' has 4}}
  %w = rt.routed product_grad_weight %r, %r, %g {k = 2 : i64, total = 4 : i64, round = 2 : i64}
      : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x16x16xf32>
  return
}

// -----

func.func @adds_to_another_type(%r: tensor<32x16xf32>, %o: tensor<4x16x8xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{adds 'tensor<4x16x16xf32>' to 'tensor<4x16x8xf32>'}}
  %w = rt.routed product_grad_weight %r, %r, %o, %g {k = 2 : i64, total = 4 : i64, round = 2 : i64}
      : (tensor<32x16xf32>, tensor<32x16xf32>, tensor<4x16x8xf32>, tensor<2x8x4xf32>) -> tensor<4x16x16xf32>
  return
}

// -----

func.func @forgets_other_rounds(%r: tensor<16x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<4x8x2xf32>) {
  // expected-error @+1 {{of round 2 needs the rows of other rounds, 'tensor<32x16xf32>'}}
  %s = rt.exchange_rows %r by %h to %g over ["ep"] {round = 2 : i64}
      : (tensor<16x16xf32>, tensor<4x8x2xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  return
}

// -----

func.func @first_has_no_others(%r: tensor<16x16xf32>, %o: tensor<32x16xf32>, %g: tensor<2x8x4xf32>, %h: tensor<4x8x2xf32>) {
  // expected-error @+1 {{of round 1 has no use for the rows of other rounds}}
  %s = rt.exchange_rows %r by %h to %g into %o over ["ep"] {round = 1 : i64}
      : (tensor<16x16xf32>, tensor<4x8x2xf32>, tensor<2x8x4xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return
}

// -----

func.func @uneven_rounds(%h: tensor<5x8x2xf32>) {
  // expected-error @+1 {{cuts 5 rows of gates into 2 parts; it must be a multiple}}
  %n = rt.row_rounds %h by 3 {members = 2 : i64} : tensor<5x8x2xf32>
  return
}

// -----

func.func @packed_for_others(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{has messages 'tensor<4x16x16xf32>' of rows 'tensor<32x16xf32>'; they must be [2, rows, columns] of the same columns}}
  %p = rt.pack_rows %r by %g {k = 2 : i64, members = 2 : i64, own} : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<4x16x16xf32>
  return
}

// -----

func.func @own_rows_in_a_round(%r: tensor<32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{is of round 1 with 0 rows sent before; own rows have the latter alone, others the former}}
  %p = rt.pack_rows %r by %g {k = 2 : i64, members = 2 : i64, own, round = 1 : i64} : (tensor<32x16xf32>, tensor<2x8x4xf32>) -> tensor<2x16x16xf32>
  return
}

// -----

func.func @unpacked_to_fewer(%m: tensor<1x31x16xf32>, %h: tensor<4x8x2xf32>) {
  // expected-error @+1 {{has messages 'tensor<1x31x16xf32>' of rows 'tensor<31x16xf32>'; they must be [1, rows of 2 messages, columns] of the same columns}}
  %r = rt.unpack_rows %m by %h {k = 2 : i64, members = 2 : i64} : (tensor<1x31x16xf32>, tensor<4x8x2xf32>) -> tensor<31x16xf32>
  return
}

// -----

func.func @forgets_what_was_sent(%m: tensor<1x32x16xf32>, %g: tensor<2x8x4xf32>) {
  // expected-error @+1 {{where 16 rows were sent before needs those, 'tensor<32x16xf32>'}}
  %r = rt.unpack_rows %m by %g {k = 2 : i64, members = 2 : i64, own, sent = 16 : i64} : (tensor<1x32x16xf32>, tensor<2x8x4xf32>) -> tensor<32x16xf32>
  return
}
