// The encoding of a tensor: what ranks hold on each axis. Equal distributions are equal types: axes are sorted, I is
// left out.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2, tp = 2>} {
  // CHECK: @each_state(%{{.*}}: tensor<8xf32, #dist<dp: R>>, %{{.*}}: tensor<8xf32, #dist<dp: S(0)>>,
  // CHECK-SAME: %{{.*}}: tensor<8xf32, #dist<dp: P>>, %{{.*}}: tensor<8xf32, #dist<dp: M>>, %{{.*}}: tensor<8xf32,
  // CHECK-SAME: #dist<pp: A(1)>>)
  func.func @each_state(%r: tensor<8xf32, #dist<dp: R>>, %s: tensor<8xf32, #dist<dp: S(0)>>,
      %p: tensor<8xf32, #dist<dp: P>>,
                        %m: tensor<8xf32, #dist<dp: M>>, %a: tensor<8xf32, #dist<pp: A(1)>>) {
    return
  }

  // CHECK: @sorted(%{{.*}}: tensor<8x4xf32, #dist<dp: S(0), tp: P>>)
  func.func @sorted(%x: tensor<8x4xf32, #dist<tp: P, dp: S(0)>>) {
    return
  }

  // CHECK: @invariant_is_left_out(%{{.*}}: tensor<8xf32, #dist<tp: P>>)
  func.func @invariant_is_left_out(%x: tensor<8xf32, #dist<dp: I, tp: P>>) {
    return
  }

  // CHECK: @two_levels(%{{.*}}: tensor<8xf32, #dist<dp: S(0:1), tp: S(0)>>)
  // CHECK-SAME: -> tensor<8xf32, #dist<dp: S(0:1), tp: S(0)>>
  func.func @two_levels(%x: tensor<8xf32, #dist<tp: S(0), dp: S(0:1)>>) -> tensor<8xf32, #dist<dp: S(0:1), tp: S(0)>> {
    return %x : tensor<8xf32, #dist<dp: S(0:1), tp: S(0)>>
  }
}
