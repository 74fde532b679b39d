// The gradient norm counts replicated parameters tp times.
//
// Fault: every rank adds the squares of all of its gradients, then the sums are added
// over tp. Norm weights and biases are the same on all ranks, so their squares count tp times: the
// norm is too large, and clipping is too strong.
// Source: https://github.com/NVIDIA-NeMo/RL/pull/3788,
// https://github.com/ROCm/TransformerEngine/pull/715 (1.36 and 1.52 times)
// Here: the sum of squares of a split gradient is `P`, that of a replicated one `I`; they do not
// add until the latter counts once.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!split = tensor<64x8xf32, #dist<tp: S(0)>>
!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @same_on_all_ranks_and_added(%matrix: !split, %bias: tensor<8xf32>) {
    %a = nn.einsum "ab,ab->" %matrix, %matrix : (!split, !split) -> !addend
    %b = nn.einsum "a,a->" %bias, %bias : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    // expected-error @+2 {{refuses P, I on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter) or make the I operand partial}}
    %sum = nn.add ",->" %a, %b : (!addend, tensor<f32>) -> !addend
    return
  }
}

// -----

!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @replicated_claims_to_be_an_addend(%bias: tensor<8xf32>) {
    // expected-error @+1 {{has result type 'tensor<f32, #dist<tp: P>>', but its operands give 'tensor<f32>'}}
    %b = nn.einsum "a,a->" %bias, %bias : (tensor<8xf32>, tensor<8xf32>) -> !addend
    return
  }
}

// -----

!split = tensor<64x8xf32, #dist<tp: S(0)>>
!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @norm_of_the_shard_alone(%matrix: !split) {
    %a = nn.einsum "ab,ab->" %matrix, %matrix : (!split, !split) -> !addend
    // expected-error @+2 {{refuses P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %norm = nn.map sqrt %a : !addend -> !addend
    return
  }
}

// -----

!split = tensor<64x8xf32, #dist<tp: S(0)>>
!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  func.func @repaired(%matrix: !split, %bias: tensor<8xf32>) {
    %a = nn.einsum "ab,ab->" %matrix, %matrix : (!split, !split) -> !addend
    %b = nn.einsum "a,a->" %bias, %bias : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    %once = dist.convert replicated_to_partial %b on "tp" : tensor<f32> -> !addend
    %sum = nn.add ",->" %a, %once : (!addend, !addend) -> !addend
    %total = dist.convert all_reduce %sum on "tp" : !addend -> tensor<f32>
    %norm = nn.map sqrt %total : tensor<f32> -> tensor<f32>
    return
  }
}
