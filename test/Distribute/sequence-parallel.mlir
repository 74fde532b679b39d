// The residual stream is split over tp: gathered before a column product, scattered after a row product.
// RUN: tessera-opt %s --dist-distribute="mesh=tp=2 sequence-parallel=true" | FileCheck %s

!x = tensor<4x6x8xf32>
!h = tensor<4x6x16xf32>
// CHECK-LABEL: @block
func.func @block(%x: !x {nn.data = "x", nn.dims = "bsh"}, %g: tensor<8xf32> {nn.param = "g", nn.dims = "h"},
    %b: tensor<8xf32> {nn.param = "b", nn.dims = "h"},
                 %up: tensor<8x16xf32> {nn.param = "up", nn.dims = "hf"},
                 %down: tensor<16x8xf32> {nn.param = "down", nn.dims = "fh"},
                 %c: tensor<8xf32> {nn.param = "c", nn.dims = "h"}) -> tensor<f32> {
  // CHECK: %[[X:.*]] = dist.convert all_slice %{{.*}} on "tp" : tensor<4x6x8xf32>
  // CHECK-SAME: -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %s = nn.map gelu %x {nn.tag = #nn.tag<stream>} : !x -> !x
  // Norm weights enter: their gradients will be reduced.
  // CHECK-COUNT-2: dist.convert enter %{{.*}} on "tp" : tensor<8xf32> -> tensor<8xf32, #dist<tp: R>>
  // CHECK: nn.layer_norm {{.*}} -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %n = nn.layer_norm %s, %g, %b {epsilon = 1.0e-5 : f64} : (!x, tensor<8xf32>, tensor<8xf32>) -> !x
  // CHECK: dist.convert all_gather %{{.*}} on "tp" : tensor<4x6x8xf32, #dist<tp: S(1)>>
  // CHECK-SAME: -> tensor<4x6x8xf32, #dist<tp: R>>
  %u = nn.einsum "bsh,hf->bsf" %n, %up : (!x, tensor<8x16xf32>) -> !h
  // CHECK: nn.einsum "bsf,fh->bsh" {{.*}} -> tensor<4x6x8xf32, #dist<tp: P>>
  // CHECK-NEXT: dist.convert reduce_scatter %{{.*}} on "tp" : tensor<4x6x8xf32, #dist<tp: P>>
  // CHECK-SAME: -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %d = nn.einsum "bsf,fh->bsh" %u, %down : (!h, tensor<16x8xf32>) -> !x
  // The bias and dropout only feed the stream, so they are split as it is.
  // CHECK: nn.add "bsh,h->bsh" {{.*}} -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %y = nn.add "bsh,h->bsh" %d, %c : (!x, tensor<8xf32>) -> !x
  // CHECK-NEXT: nn.dropout {{.*}} -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %z = nn.dropout %y {p = 1.0e-01 : f64, stream = 1 : i64} : !x -> !x
  // CHECK-NEXT: nn.add {{.*}} -> tensor<4x6x8xf32, #dist<tp: S(1)>>
  %r = nn.add "bsh,bsh->bsh" %s, %z {nn.tag = #nn.tag<stream>} : (!x, !x) -> !x
  %loss = nn.einsum "bsh->" %r : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
