// If every mesh must give the same bits, partial sums reach nothing that rounds: an op that adds, scales or maps them
// needs their sum.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

!p = tensor<4x8xf32, #dist<tp: P>>
!s = tensor<4x8xf32, #dist<tp: S(1)>>
!part = tensor<4xf32, #dist<tp: P>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 2>} {
  func.func @accepted(%s: !s, %p: !p, %like: tensor<4x8x2xf32, #dist<tp: R>>) -> !part {
    %sum = nn.einsum "bv->b" %s : (!s) -> !part
    %moved = nn.broadcast "bv,bvx->bvx" %p like %like
        : (!p, tensor<4x8x2xf32, #dist<tp: R>>) -> tensor<4x8x2xf32, #dist<tp: P>>
    return %sum : !part
  }
}

// -----

!p = tensor<4x8xf32, #dist<tp: P>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 2>} {
  func.func @sums(%x: !p, %y: !p) -> !p {
    // expected-error @below {{'nn.add' op refuses P, P on axis 'tp'}}
    // expected-note @below {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %z = nn.add "bv,bv->bv" %x, %y : (!p, !p) -> !p
    return %z : !p
  }
}

// -----

!p = tensor<4x8xf32, #dist<tp: P>>
!s = tensor<4x8xf32, #dist<tp: S(1)>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 2>} {
  func.func @scales(%x: !p) -> !p {
    // expected-error @below {{'nn.einsum' op refuses P on axis 'tp'}}
    // expected-note @below {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %z = nn.einsum "bv->bv" %x {scale = 0.1 : f64} : (!p) -> !p
    return %z : !p
  }
}

// -----

!part = tensor<4xf32, #dist<tp: P>>
!s = tensor<4x8xf32, #dist<tp: S(1)>>
module attributes {dist.layout_invariant = 8 : i64, dist.mesh = #dist.mesh<tp = 2>} {
  func.func @scales_addends(%x: !s) -> !part {
    // expected-error @below {{'nn.einsum' op refuses S(1) on axis 'tp'}}
    // expected-note @below {{operand 0 shards dimension 1, which this op needs whole: all_gather it first}}
    %z = nn.einsum "bv->b" %x {scale = 0.1 : f64} : (!s) -> !part
    return %z : !part
  }
}
