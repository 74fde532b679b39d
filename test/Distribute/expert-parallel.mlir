// Tokens are split over dp and ep, experts over ep and tp: rows cross ep by an all-to-all before
// the first product and after the last one. Parameters of all tokens enter ep, those of experts do
// not.
// RUN: tessera-opt %s --dist-distribute="mesh=ep=2,dp=2,tp=2" | FileCheck %s

!x = tensor<4x8x16xf32>
!rows = tensor<4x4x8x16xf32>
!gates = tensor<4x8x4xf32>
// CHECK-LABEL: @mixture
// CHECK-SAME: tensor<4x8x16xf32, #dist<dp: S(0), ep: S(0:1)>>
// CHECK-SAME: tensor<4x16xf32> {nn.dims = "yh"
// CHECK-SAME: tensor<4x32x16xf32, #dist<ep: S(0), tp: S(1)>>
// CHECK-SAME: tensor<4x16x32xf32, #dist<ep: S(0), tp: S(2)>>
func.func @mixture(%x: !x {nn.data = "x", nn.dims = "bsh"},
    %router: tensor<4x16xf32> {nn.param = "router", nn.dims = "yh"},
                   %w1: tensor<4x32x16xf32> {nn.param = "w1", nn.dims = "xfh"},
                   %w2: tensor<4x16x32xf32> {nn.param = "w2", nn.dims = "xhf"}) -> tensor<f32> {
  // CHECK-DAG: dist.convert enter %arg1 on "ep"
  %l = nn.einsum "bsh,yh->bsy" %x, %router : (!x, tensor<4x16xf32>) -> !gates
  // CHECK: nn.top_k 2 of {{.*}} -> tensor<4x8x4xf32, #dist<dp: S(0), ep: S(0:1)>>
  %g = nn.top_k 2 of %l : !gates -> !gates
  // CHECK: nn.dispatch {{.*}} -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(1:1), tp: R>>
  %r = nn.dispatch %x by %g {nn.tag = #nn.tag<dispatch>} : (!x, !gates) -> !rows
  // CHECK: dist.convert all_to_all {{.*}} on "ep" : tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(1:1), tp: R>>
  // CHECK-SAME: -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: R>>
  // CHECK: dist.convert all_to_all {{.*}} on "ep" : tensor<4x8x4xf32, #dist<dp: S(0), ep: S(0:1)
  // CHECK-SAME: -> tensor<4x8x4xf32, #dist<dp: S(0), ep: S(2){{.*}}>>
  // CHECK-NOT: dist.convert enter %arg2 on "ep"
  // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x32xf32, #dist<dp: S(1), ep: S(0), tp: S(3)>>
  %h = nn.expert_linear %r, %w1 by %g : (!rows, tensor<4x32x16xf32>, !gates) -> tensor<4x4x8x32xf32>
  // CHECK: nn.expert_linear {{.*}} -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: P>>
  %o = nn.expert_linear %h, %w2 by %g : (tensor<4x4x8x32xf32>, tensor<4x16x32xf32>, !gates) -> !rows
  // Addends cross ep, and are summed over tp when there is one row a token.
  // CHECK: dist.convert all_to_all {{.*}} on "ep" : tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(0), tp: P>>
  // CHECK-SAME: -> tensor<4x4x8x16xf32, #dist<dp: S(1), ep: S(1:1), tp: P>>
  // CHECK: nn.collect {{.*}} -> tensor<4x8x16xf32, #dist<dp: S(0), ep: S(0:1), tp: P>>
  %y = nn.collect %o by %g weighted {nn.tag = #nn.tag<collect>} : (!rows, !gates) -> !x
  // CHECK: dist.convert all_reduce {{.*}} on "tp" : tensor<4x8x16xf32,
  %z = nn.add "bsh,bsh->bsh" %x, %y {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %loss = nn.einsum "bsh->" %z : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
