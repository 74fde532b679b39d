// The two gradients of a tied embedding are added when only one of them has been reduced.
//
// Fault: with the distributed optimizer, gradients were reduce-scattered over dp first,
// then those of the table's two uses were all-reduced. Each rank had another slice of them whole:
// slices were added to unreduced partial sums.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/844; kept as two copies with two updates:
// https://github.com/paiml/entrenar/issues/314
// Here: a table is one parameter with two uses; gradients of different states do not add, and equal
// ones are reduced once.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!addend = tensor<64x8xf32, #dist<dp: P>>
!slice = tensor<64x8xf32, #dist<dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @scattered_meets_addend(%of_lookup: !addend, %of_logits: !addend) {
    %scattered = dist.convert reduce_scatter %of_lookup on "dp" : !addend -> !slice
    // expected-error @+2 {{refuses S(0), P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %g = nn.add "vh,vh->vh" %scattered, %of_logits : (!slice, !addend) -> !slice
    return
  }
}

// -----

!addend = tensor<64x8xf32, #dist<dp: P>>
!whole = tensor<64x8xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @reduced_meets_addend(%of_lookup: !addend, %of_logits: !addend) {
    %reduced = dist.convert all_reduce %of_lookup on "dp" : !addend -> !whole
    // expected-error @+2 {{refuses I, P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %g = nn.add "vh,vh->vh" %reduced, %of_logits : (!whole, !addend) -> !addend
    return
  }
}

// -----

!addend = tensor<64x8xf32, #dist<dp: P>>
!whole = tensor<64x8xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @reduced_twice(%of_lookup: !addend) {
    %reduced = dist.convert all_reduce %of_lookup on "dp" : !addend -> !whole
    // expected-error @+1 {{has no conversion I -> I on axis 'dp'; it changes nothing: remove it}}
    %again = dist.convert all_reduce %reduced on "dp" : !whole -> !whole
    return
  }
}

// -----

!addend = tensor<64x8xf32, #dist<dp: P>>
!slice = tensor<64x8xf32, #dist<dp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @repaired(%of_lookup: !addend, %of_logits: !addend) {
    %g = nn.add "vh,vh->vh" %of_lookup, %of_logits : (!addend, !addend) -> !addend
    %reduced = dist.convert all_reduce %g on "dp" : !addend -> tensor<64x8xf32>
    %scattered = dist.convert reduce_scatter %g on "dp" : !addend -> !slice
    return
  }
}
