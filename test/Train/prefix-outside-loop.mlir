// The positions that a sequence uses are taken once per step: their gradients are added over the micro-batches, then
// reduced, then padded.
// RUN: tessera-opt %s --dist-distribute=mesh=dp=2 --nn-differentiate --nn-micro-batch=count=2 | FileCheck %s

// CHECK: %[[ROWS:.*]] = nn.prefix %arg0 rows 4
// CHECK: dist.convert enter %[[ROWS]]
// CHECK: %[[SUMS:.*]]:2 = nn.micro_batches 2
// CHECK-NOT: nn.prefix
// CHECK: nn.yield
// CHECK: %[[REDUCED:.*]] = dist.convert all_reduce %[[SUMS]]#1
// CHECK: nn.prefix_grad %[[REDUCED]] like %arg0
func.func @loss(%wpe: tensor<8x6xf32> {nn.param = "wpe", nn.dims = "ph"},
                %ids: tensor<2x4xi32> {nn.data = "ids", nn.dims = "bs"},
                %table: tensor<10x6xf32> {nn.dims = "vh"}) -> tensor<f32> {
  %rows = nn.prefix %wpe rows 4 : tensor<8x6xf32> -> tensor<4x6xf32>
  %e = nn.embedding %ids, %table : (tensor<2x4xi32>, tensor<10x6xf32>) -> tensor<2x4x6xf32>
  %x = nn.add "bsh,sh->bsh" %e, %rows : (tensor<2x4x6xf32>, tensor<4x6xf32>) -> tensor<2x4x6xf32>
  %loss = nn.einsum "bsh->" %x : (tensor<2x4x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
