// RUN: tessera-opt %s -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @sum_of_numbers(%x: tensor<8x9xf32, #dist<tp: S(1) F>>) {
    // expected-error @+1 {{contracts factor 'h' over padding that holds F, but only Z (zeros) adds nothing; mask an operand with dist.mask}}
    %s = nn.einsum "bh->b" %x : (tensor<8x9xf32, #dist<tp: S(1) F>>) -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @zero_times_anything(%x: tensor<8x9xf32, #dist<tp: S(1) Z>>, %y: tensor<8x9xf32, #dist<tp: S(1)>>) {
    // expected-error @+1 {{contracts factor 'h' over padding that holds X}}
    %s = nn.einsum "bh,bh->b" %x, %y
      : (tensor<8x9xf32, #dist<tp: S(1) Z>>, tensor<8x9xf32, #dist<tp: S(1)>>) -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @maximum_of_zeros(%x: tensor<8x9xf32, #dist<tp: S(1) Z>>) {
    // expected-error @+1 {{over padding that holds Z, but only N (-inf) leaves a maximum as it is}}
    %m = nn.max %x : tensor<8x9xf32, #dist<tp: S(1) Z>> -> tensor<8xf32, #dist<tp: M>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @claims_zeros(%x: tensor<8x9xf32, #dist<tp: S(1) Z>>) {
    // expected-error @+1 {{has result type 'tensor<8x9xf32, #dist<tp: S(1) Z>>', but its operands give 'tensor<8x9xf32, #dist<tp: S(1) F>>'}}
    %y = nn.map exp %x : tensor<8x9xf32, #dist<tp: S(1) Z>> -> tensor<8x9xf32, #dist<tp: S(1) Z>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @slices_claim_too_much(%x: tensor<8x9xf32>) {
    // expected-error @+1 {{but its operand gives 'tensor<8x9xf32, #dist<tp: S(1) Z>>'}}
    %y = dist.convert all_slice %x on "tp" : tensor<8x9xf32> -> tensor<8x9xf32, #dist<tp: S(1) N>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @infinity_is_no_partial_sum(%x: tensor<8x9xf32, #dist<tp: P>>) {
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first}}
    %y = dist.mask %x dim 1 fill N : tensor<8x9xf32, #dist<tp: P>> -> tensor<8x9xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @no_such_dimension(%x: tensor<8x9xf32, #dist<tp: S(1)>>) {
    // expected-error @+1 {{cannot fill dimension 2 of a tensor of rank 2; use one from 0 to 1}}
    %y = dist.mask %x dim 2 fill Z : tensor<8x9xf32, #dist<tp: S(1)>> -> tensor<8x9xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.masked} {
  func.func @step(%x: tensor<8x9xf32, #dist<tp: S(1) F>>) -> tensor<8x9xf32, #dist<tp: S(1) F>> {
    // expected-error @+1 {{whose dimension 1 has padding that holds F; what is kept from step to step must hold Z (zeros)}}
    return %x : tensor<8x9xf32, #dist<tp: S(1) F>>
  }
}
