// Chunks are runs of segments between values of the residual stream, with as equal flops as they can have.
// RUN: tessera-opt %s --dist-assign-stages=stages=2 | FileCheck %s
// RUN: tessera-opt %s --dist-assign-stages="stages=2 layers=1,2" | FileCheck %s --check-prefix=LAYERS
// RUN: tessera-opt %s --dist-assign-stages="stages=2 layers=3,0" | FileCheck %s --check-prefix=LAST

// The second layer costs as much as the others together.
func.func @loss(%x: tensor<4x8xf32> {nn.data = "x"}, %a: tensor<8x8xf32> {nn.param = "a"},
    %b: tensor<8x64xf32> {nn.param = "b"},
                %c: tensor<64x8xf32> {nn.param = "c"}) -> tensor<f32> {
  // CHECK: nn.einsum "bh,hk->bk" {{.*}} {dist.chunk = 0 : i64, nn.tag = #nn.tag<stream>}
  // LAYERS: nn.einsum "bh,hk->bk" {{.*}} {dist.chunk = 0 : i64, nn.tag = #nn.tag<stream>}
  %0 = nn.einsum "bh,hk->bk" %x, %a {nn.tag = #nn.tag<stream>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("h.0.mlp")
  // CHECK: nn.einsum "bh,hk->bk" {{.*}} {dist.chunk = 0 : i64, nn.tag = #nn.tag<stream>}
  // LAYERS: nn.einsum "bh,hk->bk" {{.*}} {dist.chunk = 1 : i64, nn.tag = #nn.tag<stream>}
  %1 = nn.einsum "bh,hk->bk" %0, %a {nn.tag = #nn.tag<stream>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("h.1.mlp")
  // CHECK: nn.einsum "bh,hf->bf" {{.*}} {dist.chunk = 1 : i64}
  // CHECK: nn.einsum "bf,fh->bh" {{.*}} {dist.chunk = 1 : i64, nn.tag = #nn.tag<stream>}
  %2 = nn.einsum "bh,hf->bf" %1, %b : (tensor<4x8xf32>, tensor<8x64xf32>) -> tensor<4x64xf32> loc("h.2.mlp")
  %3 = nn.einsum "bf,fh->bh" %2, %c {nn.tag = #nn.tag<stream>}
      : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("h.2.mlp")
  // CHECK: nn.einsum "bh->" {{.*}} {dist.chunk = 1 : i64}
  // LAYERS: nn.einsum "bh->" {{.*}} {dist.chunk = 1 : i64}
  // LAST-COUNT-4: dist.chunk = 0
  // LAST: nn.einsum "bh->" {{.*}} {dist.chunk = 1 : i64}
  %4 = nn.einsum "bh->" %3 : (tensor<4x8xf32>) -> tensor<f32> loc("loss")
  return %4 : tensor<f32>
}
