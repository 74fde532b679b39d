// RUN: tessera-opt %s --verify-diagnostics --dist-assign-stages="stages=2 virtual-stages=2"
// RUN: not tessera-opt %s --dist-assign-stages="stages=2 layers=1,2" 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not tessera-opt %s --dist-assign-stages="stages=2 layers=2" 2>&1 | FileCheck %s --check-prefix=PARTS

// RUN: not tessera-opt %s --dist-assign-stages="stages=3 layers=1,0,1" 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not tessera-opt %s --dist-assign-stages="stages=2 layers=0,2" 2>&1 | FileCheck %s --check-prefix=EMPTY

// SUM: error: the model has 2 layers, but 3 are given to stages; they must be the same
// PARTS: error: the model is to be cut into 1 part, but pp=2 with 1 virtual stage has 2 chunks; give each its number of layers,
// PARTS-SAME: at least 1, or 0 of the first and of the last
// INNER: error: the model is to be cut into 3 parts, but pp=3 with 1 virtual stage has 3 chunks; give each its number of layers,
// INNER-SAME: at least 1, or 0 of the first and of the last
// EMPTY: error: chunk 0 would be empty, as nothing is before the layers; give it a layer
// expected-error @+1 {{has 3 segments between values of the residual stream, but pp=2 with 2 virtual stages needs 4, one per chunk at least; use fewer stages or virtual stages}}
func.func @loss(%x: tensor<4x8xf32> {nn.data = "x"}, %a: tensor<8x8xf32> {nn.param = "a"}) -> tensor<f32> {
  %0 = nn.einsum "bh,hk->bk" %x, %a {nn.tag = #nn.tag<stream>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("h.0.mlp")
  %1 = nn.einsum "bh,hk->bk" %0, %a {nn.tag = #nn.tag<stream>}
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("h.1.mlp")
  %2 = nn.einsum "bh->" %1 : (tensor<4x8xf32>) -> tensor<f32> loc("loss")
  return %2 : tensor<f32>
}
