// ZeRO inside groups: dp splits parameters, whose slices ranks of dp_replicate copy. Gradients are scattered inside a group, and
// then the slices are summed between groups, once for all micro-batches.
// RUN: tessera-opt %s --dist-distribute="mesh=dp_replicate=2,dp=2 zero=true" | FileCheck %s
// RUN: tessera-opt %s --dist-distribute="mesh=dp_replicate=2,dp=2 zero=true" --nn-differentiate --dist-regather \
// RUN:   --nn-micro-batch=zero=3 | FileCheck %s --check-prefix=THREE

// CHECK-LABEL: @loss
// CHECK-SAME: tensor<4x6xf32, #dist<dp: S(0:1), dp_replicate: S(0)>> {nn.data = "x"
// CHECK-SAME: tensor<6xf32, #dist<dp: S(0)>> {nn.dims = "h", nn.param = "scale"}
// CHECK: %[[SLICE:.*]] = dist.convert enter %{{.*}} on "dp_replicate" : tensor<6xf32, #dist<dp: S(0)>>
// CHECK-NEXT: dist.convert all_gather %[[SLICE]] on "dp" : tensor<6xf32, #dist<dp: S(0), dp_replicate: R>>

// THREE: dist.convert enter %{{.*}} on "dp_replicate"
// THREE: %[[SUMS:.*]]:2 = nn.micro_batches
// THREE: dist.convert all_gather %{{.*}} on "dp"
// THREE: %[[SUM:.*]] = dist.convert reduce_scatter %{{.*}} on "dp" {{.*}}-> tensor<6xf32, #dist<dp: S(0), dp_replicate: P>>
// THREE: nn.yield %{{.*}}, %[[SUM]]
// THREE: dist.convert all_reduce %[[SUMS]]#1 on "dp_replicate" {{.*}}-> tensor<6xf32, #dist<dp: S(0)>>
!x = tensor<4x6xf32>
func.func @loss(%x: !x {nn.data = "x", nn.dims = "bh"}, %scale: tensor<6xf32> {nn.param = "scale", nn.dims = "h"})
    -> tensor<f32> {
  %y = nn.einsum "bh,h->bh" %x, %scale : (!x, tensor<6xf32>) -> !x
  %z = nn.map gelu %y : !x -> !x
  %loss = nn.einsum "bh->" %z : (!x) -> tensor<f32>
  return %loss : tensor<f32>
}
