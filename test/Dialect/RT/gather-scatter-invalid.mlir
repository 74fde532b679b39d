// RUN: tessera-opt %s --split-input-file --verify-diagnostics

func.func @chunks(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{has chunks of 3 in dimension 1 of size 7; it must be a multiple}}
  %y = rt.all_gather %x along 1 over ["tp"] : tensor<4x3xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func @other_dimension(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{makes 'tensor<4x6xf32>' of 'tensor<2x3xf32>'; only dimension 1 may differ}}
  %y = rt.reduce_scatter %x along 1 over ["tp"] : tensor<4x6xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @no_such_dimension(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{works along dimension 2 of 'tensor<4x6xf32>', which has rank 2}}
  %y = rt.slice %x along 2 on "tp" : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @element_type(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{makes 'tensor<8x6xbf16>' of 'tensor<4x6xf32>'; only dimension 0 may differ}}
  %y = rt.pad %x along 0 : tensor<4x6xf32> -> tensor<8x6xbf16>
  return
}

// -----

func.func @unequal_exchange(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{makes 'tensor<8x2xf32>' of 'tensor<4x6xf32>'; what dimension 0 gains, dimension 1 must lose}}
  %y = rt.all_to_all %x from 0 to 1 over ["tp"] : tensor<4x6xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @exchange_of_one_dimension(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{works from dimension 1 to 1 of 'tensor<4x6xf32>'; they must be two of its 2}}
  %y = rt.all_to_all %x from 1 to 1 over ["tp"] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @members_without_dimension(%x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{has 2 operands, 2 results and 1 dimensions; give every operand one of each}}
  %z:2 = rt.all_gather_coalesced %x, %y along [0] over ["tp"] : tensor<4xf32>, tensor<2xf32> -> tensor<8xf32>, tensor<4xf32>
  return
}

// -----

func.func @no_members() {
  // expected-error @+1 {{has 0 operands, 0 results and 0 dimensions; give every operand one of each}}
  "rt.reduce_scatter_coalesced"() {axes = ["tp"], dims = array<i64>} : () -> ()
  return
}

// -----

func.func @unequal_ranks(%x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{has chunks for 2 ranks and for 4; all members have the same ranks}}
  %z:2 = rt.all_gather_coalesced %x, %y along [0, 0] over ["tp"] : tensor<4xf32>, tensor<2xf32> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @member_that_does_not_divide(%x: tensor<8xf32>, %y: tensor<5x2xf32>) {
  // expected-error @+1 {{has chunks of 2 in dimension 0 of size 5; it must be a multiple}}
  %z:2 = rt.reduce_scatter_coalesced %x, %y along [0, 0] over ["tp"] : tensor<8xf32>, tensor<5x2xf32> -> tensor<4xf32>, tensor<2x2xf32>
  return
}

// -----

func.func @negative_dimension(%x: tensor<8xf32>) {
  // expected-error @+1 {{works along dimension -1; dimensions are counted from 0}}
  %z = rt.reduce_scatter_coalesced %x along [-1] over ["tp"] : tensor<8xf32> -> tensor<4xf32>
  return
}
