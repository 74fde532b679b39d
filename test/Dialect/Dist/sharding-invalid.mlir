// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{axis 'tp' shards dimension 1 of a tensor of rank 1}}
func.func private @no_such_dimension(tensor<8xf32, #dist<tp: S(1)>>)

// -----

// expected-error @+1 {{state S(-1) has a negative number; dimensions, levels and stages count from 0}}
func.func private @negative_dimension(tensor<8xf32, #dist<tp: S(-1)>>)

// -----

// expected-error @+1 {{state S(0:-1) has a negative number}}
func.func private @negative_level(tensor<8xf32, #dist<tp: S(0:-1)>>)

// -----

// expected-error @+1 {{expected ')'}}
func.func private @stages_have_no_levels(tensor<8xf32, #dist<pp: A(0:1)>>)

// -----

// expected-error @+1 {{expected a state I, R, S(dimension), P, M, L, C or A(stage), found 'Q'}}
func.func private @unknown_state(tensor<8xf32, #dist<tp: Q>>)

// -----

// expected-error @+1 {{axis 'tp' has partial means of 'f32' in a tensor of rank 0; they are vectors of floating-point numbers}}
func.func private @mean_without_a_vector(tensor<f32, #dist<tp: L>>)

// -----

// expected-error @+1 {{axis 'tp' has partial means of 'i32' in a tensor of rank 1}}
func.func private @mean_of_integers(tensor<8xi32, #dist<tp: L>>)

// -----

// expected-error @+1 {{axis 'tp' is named twice}}
func.func private @axis_twice(tensor<8xf32, #dist<tp: P, tp: R>>)

// -----

// expected-error @+1 {{every axis is I; leave the encoding out}}
func.func private @nothing_is_said(tensor<8xf32, #dist<tp: I>>)

// -----

// expected-error @+1 {{expected '('}}
func.func private @sharded_where(tensor<8xf32, #dist<tp: S>>)

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @axis_is_not_in_the_mesh(%x: tensor<8xf32, #dist<tp: R>>) {
    // expected-error @+1 {{is distributed over axis 'tp', which the module's dist.mesh does not have}}
    %y = nn.map relu %x : tensor<8xf32, #dist<tp: R>> -> tensor<8xf32, #dist<tp: R>>
    return
  }
}

// -----

func.func @there_is_no_mesh(%x: tensor<8xf32, #dist<tp: R>>) {
  // expected-error @+1 {{is distributed over axis 'tp', which the module's dist.mesh does not have}}
  %y = nn.map relu %x : tensor<8xf32, #dist<tp: R>> -> tensor<8xf32, #dist<tp: R>>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @outer_level_is_missing(%x: tensor<8xf32, #dist<dp: S(0:1)>>) {
    // expected-error @+1 {{dimension 0 is not sharded at levels 0, 1, ...: convert the innermost axis first}}
    %y = nn.map relu %x : tensor<8xf32, #dist<dp: S(0:1)>> -> tensor<8xf32, #dist<dp: S(0:1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @two_outermost_levels(%x: tensor<8xf32, #dist<dp: S(0), tp: S(0)>>) {
    // expected-error @+1 {{dimension 0 is not sharded at levels 0, 1, ...}}
    %y = nn.map relu %x : tensor<8xf32, #dist<dp: S(0), tp: S(0)>> -> tensor<8xf32, #dist<dp: S(0), tp: S(0)>>
    return
  }
}

// -----

// expected-error @+1 {{expected what padding holds, Z, N or F, or nothing; found 'X'}}
func.func private @anything_is_not_written(tensor<9xf32, #dist<tp: S(0) X>>)

// -----

// expected-error @+1 {{state P has no padding; only S has}}
func.func private @partial_sums_have_no_padding(tensor<9xf32, #dist<tp: P Z>>)

// -----

// expected-error @+1 {{the padding of dimension 0 is stated twice}}
func.func private @two_paddings(tensor<9xf32, #dist<dp: S(0) Z, tp: S(0:1) F>>)

// -----

// expected-error @+1 {{state A(2147483648) has a number above 65535}}
func.func private @no_such_stage(tensor<9xf32, #dist<pp: A(2147483648)>>)
