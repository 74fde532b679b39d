// A sum that is not finished, used as if it were.
//
// Fault: DTensor knows that a value is `Partial`, but ops that are not linear, or that
// add something to it, ran on each rank's partial sum: a scalar was added on every rank, maxima and
// norms were taken of partial sums. Nothing failed; the numbers were wrong.
// Source: https://github.com/pytorch/pytorch/issues/163193, https://github.com/pytorch/pytorch/pull/165962
// Here: `P` is a state of the type. Only what is linear in it accepts it, and there is no
// conversion that only renames it.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!addends = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @relabelled(%x: !addends) {
    // expected-error @+1 {{has no conversion P -> R on axis 'tp'; convert it to I first}}
    %y = dist.convert enter %x on "tp" : !addends -> tensor<8x64xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @product_claims_to_be_whole(%x: tensor<8x64xf32, #dist<tp: S(1)>>,
      %w: tensor<64x16xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{has result type 'tensor<8x16xf32, #dist<tp: R>>', but its operands give 'tensor<8x16xf32, #dist<tp: P>>'}}
    %y = nn.einsum "bf,fh->bh" %x, %w
        : (tensor<8x64xf32, #dist<tp: S(1)>>, tensor<64x16xf32, #dist<tp: S(0)>>) -> tensor<8x16xf32, #dist<tp: R>>
    return
  }
}

// -----

!addends = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @scalar_is_added_on_every_rank(%x: !addends, %ten: tensor<f32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.add "bh,->bh" %x, %ten : (!addends, tensor<f32, #dist<tp: R>>) -> !addends
    return
  }
}

// -----

!addends = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @maximum_of_addends(%x: !addends) {
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.max %x : !addends -> tensor<8xf32, #dist<tp: P>>
    return
  }
}

// -----

!addends = tensor<8x64xf32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @norm_of_addends(%x: !addends) {
    // expected-error @+2 {{refuses P, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.einsum "bh,bh->" %x, %x : (!addends, !addends) -> tensor<f32, #dist<tp: P>>
    return
  }
}

// -----

!addends = tensor<8x64xf32, #dist<tp: P>>
!whole = tensor<8x64xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%x: !addends, %ten: tensor<f32>) {
    %sum = dist.convert all_reduce %x on "tp" : !addends -> !whole
    %y = nn.add "bh,->bh" %sum, %ten : (!whole, tensor<f32>) -> !whole
    %max = nn.max %sum : !whole -> tensor<8xf32>
    %norm = nn.einsum "bh,bh->" %sum, %sum : (!whole, !whole) -> tensor<f32>
    // Linear values may wait for their reduction.
    %twice = nn.add "bh,bh->bh" %x, %x : (!addends, !addends) -> !addends
    return
  }
}
