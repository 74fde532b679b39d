// The loss is a mean of local means, or it is scaled once more for context parallelism.
//
// Fault: ranks (and micro-batches) with different numbers of tokens count each of them
// with the same weight, because each divides by its own count; and a loss that was already summed
// over ranks is multiplied or divided by their number once more.
// Source: https://github.com/NVIDIA/Megatron-LM/issues/906 and
// https://github.com/NVIDIA/Megatron-LM/issues/673 (context parallelism),
//   https://github.com/huggingface/transformers/issues/24725 (micro-batches)
// Here: a count over split tokens is `P` as the sum is; a quotient of two partial sums does not
// type. The global count divides once.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

!tokens = tensor<2x8xf32, #dist<dp: S(0), tp: S(1)>>
!addend = tensor<f32, #dist<dp: P, tp: P>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @each_rank_divides_by_its_own_count(%losses: !tokens, %mask: !tokens) {
    %sum = nn.einsum "bs,bs->" %losses, %mask : (!tokens, !tokens) -> !addend
    %count = nn.einsum "bs->" %mask : (!tokens) -> !addend
    // expected-error @+2 {{refuses P on axis 'dp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %inverse = nn.map reciprocal %count : !addend -> !addend
    return
  }
}

// -----

!tokens = tensor<2x8xf32, #dist<tp: S(1)>>
!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @a_local_mean_is_no_addend_of_a_mean(%losses: !tokens, %inverse_of_local_count: !addend) {
    %sum = nn.einsum "bs->" %losses : (!tokens) -> !addend
    // expected-error @+2 {{refuses P, P on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %mean = nn.einsum ",->" %sum, %inverse_of_local_count : (!addend, !addend) -> !addend
    return
  }
}

// -----

!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @summed_over_ranks_once_more(%sum: !addend) {
    %loss = dist.convert all_reduce %sum on "tp" : !addend -> tensor<f32>
    // expected-error @+1 {{has no conversion I -> I on axis 'tp'; it changes nothing: remove it}}
    %again = dist.convert all_reduce %loss on "tp" : tensor<f32> -> tensor<f32>
    return
  }
}

// -----

!tokens = tensor<2x8xf32, #dist<tp: S(1)>>
!addend = tensor<f32, #dist<tp: P>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @repaired(%losses: !tokens, %mask: !tokens) {
    %sum = nn.einsum "bs,bs->" %losses, %mask : (!tokens, !tokens) -> !addend
    %count = nn.einsum "bs->" %mask : (!tokens) -> !addend
    %all = dist.convert all_reduce %count on "tp" : !addend -> tensor<f32>
    %inverse = nn.map reciprocal %all : tensor<f32> -> tensor<f32>
    %total = dist.convert all_reduce %sum on "tp" : !addend -> tensor<f32>
    %mean = nn.einsum ",->" %total, %inverse : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return
  }
}
