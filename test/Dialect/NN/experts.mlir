// Gates, rows of experts and their products, with tokens split over dp, experts over ep, the feed-forward over tp.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!gates = tensor<4x8x4xf32, #dist<dp: S(0)>>
!routes = tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2)>>
!rows = tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0)>>
!inner = tensor<4x4x8x32xf32, #dist<dp: S(1), ep: S(0), tp: S(3)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, ep = 2, tp = 2>} {
  // CHECK-LABEL: @route
  func.func @route(%l: !gates) {
    // CHECK: nn.top_k 2 of %{{.*}} : tensor<4x8x4xf32, #dist<dp: S(0)>> -> tensor<4x8x4xf32, #dist<dp: S(0)>>
    %g = nn.top_k 2 of %l : !gates -> !gates
    // CHECK: nn.routed
    %m = nn.routed %g : !gates -> !gates
    // The number of tokens that each expert gets is a sum over all ranks of dp.
    %n = nn.einsum "bsx->x" %m : (!gates) -> tensor<4xf32, #dist<dp: P>>
    return
  }

  // CHECK-LABEL: @move
  func.func @move(%t: tensor<4x8x16xf32, #dist<ep: S(0)>>, %g: tensor<4x8x4xf32, #dist<ep: S(0)>>) {
    // CHECK: nn.dispatch %{{.*}} by %{{.*}} : ({{.*}}) -> tensor<4x4x8x16xf32, #dist<ep: S(1)>>
    %r = nn.dispatch %t by %g
        : (tensor<4x8x16xf32, #dist<ep: S(0)>>, tensor<4x8x4xf32, #dist<ep: S(0)>>)
        -> tensor<4x4x8x16xf32, #dist<ep: S(1)>>
    // CHECK: nn.collect %{{.*}} by %{{.*}} weighted
    %y = nn.collect %r by %g weighted
        : (tensor<4x4x8x16xf32, #dist<ep: S(1)>>, tensor<4x8x4xf32, #dist<ep: S(0)>>)
        -> tensor<4x8x16xf32, #dist<ep: S(0)>>
    // CHECK: nn.collect_grad_gates
    %dg = nn.collect_grad_gates %t, %r by %g
        : (tensor<4x8x16xf32, #dist<ep: S(0)>>, tensor<4x4x8x16xf32, #dist<ep: S(1)>>,
        tensor<4x8x4xf32, #dist<ep: S(0)>>) -> tensor<4x8x4xf32, #dist<ep: S(0)>>
    return
  }

  // A split feed-forward: columns, then rows, which gives partial sums. The gradient of the weights
  // is one over dp, not over ep.
  // CHECK-LABEL: @products
  func.func @products(%r: tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: R>>,
      %w1: tensor<4x32x16xf32, #dist<dp: R, ep: S(0), tp: S(1)>>,
                      %w2: tensor<4x16x32xf32, #dist<dp: R, ep: S(0), tp: S(2)>>,
                      %q1: tensor<4x32x16xi8, #dist<dp: R, ep: S(0), tp: S(1)>>,
                      %s1: tensor<4x32xf32, #dist<dp: R, ep: S(0), tp: S(1)>>,
                      %q2: tensor<4x16x32xi8, #dist<dp: R, ep: S(0), tp: S(2)>>,
                      %s2: tensor<4x16xf32, #dist<dp: R, ep: S(0), tp: R>>,
                      %g: tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) {
    // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x32xf32, #dist<dp: S(1), ep: S(0), tp: S(3)>>
    %h = nn.expert_linear %r, %w1 by %g
        : (tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: R>>,
        tensor<4x32x16xf32, #dist<dp: R, ep: S(0), tp: S(1)>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> !inner
    // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: P>>
    %y = nn.expert_linear %h, %w2 by %g : (!inner, tensor<4x16x32xf32, #dist<dp: R, ep: S(0), tp: S(2)>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> tensor<4x4x8x16xf32,
                                               #dist<dp: S(1), ep: S(0), tp: P>>
    // Integers of each rank have the scales of their columns; partial sums have those of all.
    // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x32xf32, #dist<dp: S(1), ep: S(0), tp: S(3)>>
    %hq = nn.expert_linear %r, %q1, %s1 by %g
        : (tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: R>>,
        tensor<4x32x16xi8, #dist<dp: R, ep: S(0), tp: S(1)>>, tensor<4x32xf32, #dist<dp: R, ep: S(0), tp: S(1)>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> !inner
    // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: P>>
    %yq = nn.expert_linear %hq, %q2, %s2 by %g : (!inner, tensor<4x16x32xi8, #dist<dp: R, ep: S(0), tp: S(2)>>,
        tensor<4x16xf32, #dist<dp: R, ep: S(0), tp: R>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> tensor<4x4x8x16xf32,
                                               #dist<dp: S(1), ep: S(0), tp: P>>
    // CHECK: nn.expert_linear {{.*}} transposed {{.*}} -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: P>>
    %dr = nn.expert_linear %h, %w1 by %g transposed : (!inner, tensor<4x32x16xf32, #dist<dp: R, ep: S(0), tp: S(1)>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> tensor<4x4x8x16xf32,
                                               #dist<dp: S(1), ep: S(0), tp: P>>
    // CHECK: nn.expert_linear_grad_weight {{.*}} -> tensor<4x32x16xf32, #dist<dp: P, ep: S(0), tp: S(1)>>
    %dw = nn.expert_linear_grad_weight %h, %r by %g : (!inner, tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: R>>,
                                           tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2), tp: R>>) -> tensor<4x32x16xf32,
                                               #dist<dp: P, ep: S(0), tp: S(1)>>
    return
  }
}
