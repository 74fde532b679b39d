// The gradients of a table that the first and the last pipeline stage use are added too early, or
// slices of one to all of the other.
//
// Fault: gradients were scattered over dp before those of the two stages were added; as
// the table lies elsewhere in the buffers of the two stages, a rank added a slice of one to an
// unreduced partial sum of the other. In another version the sum over dp began before the last
// stage's gradient was complete.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/844, https://github.com/NVIDIA/Megatron-LM/issues/1012
// Here: the stages' gradients are partial sums on `pp`, and on `dp` in whatever state they are;
// equal states add, others do not, and a sum that is done has another type than its partial sums.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics
// RUN: tessera verify %S/Inputs/three-layers.json --mesh pp=2,dp=2 --zero 1 --micro-batches 2 --precision f64 | FileCheck %s
// RUN: tessera verify %S/Inputs/three-layers.json --mesh pp=3 --batch 6 --micro-batches 3 --precision f64 | FileCheck %s
// CHECK: erasure  ok
// CHECK: f64      ok

!first = tensor<64x8xf32, #dist<pp: A(0), dp: P>>
!last = tensor<64x8xf32, #dist<pp: A(1), dp: P>>
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2>} {
  func.func @scattered_before_stages_add(%of_lookup: !first, %of_logits: !last) {
    %a = dist.convert stage_to_partial %of_lookup on "pp" : !first -> tensor<64x8xf32, #dist<pp: P, dp: P>>
    %scattered = dist.convert reduce_scatter %a on "dp"
        : tensor<64x8xf32, #dist<pp: P, dp: P>> -> tensor<64x8xf32, #dist<pp: P, dp: S(0)>>
    %b = dist.convert stage_to_partial %of_logits on "pp" : !last -> tensor<64x8xf32, #dist<pp: P, dp: P>>
    // expected-error @+2 {{refuses S(0), P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %g = nn.add "vh,vh->vh" %scattered, %b
        : (tensor<64x8xf32, #dist<pp: P, dp: S(0)>>, tensor<64x8xf32, #dist<pp: P, dp: P>>)
        -> tensor<64x8xf32, #dist<pp: P, dp: P>>
    return
  }
}

// -----

!first = tensor<64x8xf32, #dist<pp: A(0)>>
!last = tensor<64x8xf32, #dist<pp: A(1)>>
!addend = tensor<64x8xf32, #dist<pp: P>>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @summed_before_the_last_stage_is_done(%of_lookup: !first, %of_logits: !last) {
    %a = dist.convert stage_to_partial %of_lookup on "pp" : !first -> !addend
    %sum = dist.convert all_reduce %a on "pp" : !addend -> tensor<64x8xf32>
    %b = dist.convert stage_to_partial %of_logits on "pp" : !last -> !addend
    // expected-error @+2 {{refuses I, P on axis 'pp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %g = nn.add "vh,vh->vh" %sum, %b : (tensor<64x8xf32>, !addend) -> tensor<64x8xf32>
    return
  }
}

// -----

!first = tensor<64x8xf32, #dist<pp: A(0)>>
!last = tensor<64x8xf32, #dist<pp: A(1)>>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @each_stage_on_its_own(%of_lookup: !first, %of_logits: !last) {
    // expected-error @+2 {{refuses A(0), A(1) on axis 'pp'}}
    // expected-note @+1 {{operands at a pipeline stage must all be at the same one}}
    %g = nn.add "vh,vh->vh" %of_lookup, %of_logits : (!first, !last) -> !first
    return
  }
}

// -----

!first = tensor<64x8xf32, #dist<pp: A(0), dp: P>>
!last = tensor<64x8xf32, #dist<pp: A(1), dp: P>>
!addend = tensor<64x8xf32, #dist<pp: P, dp: P>>
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2>} {
  func.func @repaired(%of_lookup: !first, %of_logits: !last) {
    %a = dist.convert stage_to_partial %of_lookup on "pp" : !first -> !addend
    %b = dist.convert stage_to_partial %of_logits on "pp" : !last -> !addend
    %g = nn.add "vh,vh->vh" %a, %b : (!addend, !addend) -> !addend
    %sum = dist.convert all_reduce %g on "pp" : !addend -> tensor<64x8xf32, #dist<dp: P>>
    %slice = dist.convert reduce_scatter %sum on "dp"
        : tensor<64x8xf32, #dist<dp: P>> -> tensor<64x8xf32, #dist<dp: S(0)>>
    return
  }
}
