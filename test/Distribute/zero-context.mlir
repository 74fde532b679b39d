// Ranks of dp and cp hold the same parameters and see different tokens: both split them. The slices of one dimension lie in the
// order of the ranks, inside of tp; the innermost are gathered first and scattered last.
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,cp=2,tp=2 zero=true" | FileCheck %s
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,dp=2 zero=true" | FileCheck %s --check-prefix=ORDER
// RUN: tessera-opt %s --dist-distribute="mesh=cp=2,tp=2 zero=true" | FileCheck %s --check-prefix=ALONE
// RUN: tessera-opt %s --dist-distribute="mesh=dp=2,cp=2 zero=true" --nn-differentiate --dist-regather \
// RUN:   --nn-micro-batch=zero=3 | FileCheck %s --check-prefix=THREE

// CHECK-LABEL: @loss
// CHECK-SAME: tensor<6xf32, #dist<cp: S(0:1), dp: S(0)>> {nn.dims = "h", nn.param = "scale"}
// CHECK-SAME: tensor<6x16xf32, #dist<cp: S(1:2), dp: S(1:1), tp: S(1)>> {nn.dims = "hf", nn.param = "up"}
// CHECK-SAME: tensor<16x5xf32, #dist<cp: S(0:2), dp: S(0:1), tp: S(0)>> {nn.dims = "fh", nn.param = "down"}
// CHECK: %[[INNER:.*]] = dist.convert all_gather %{{.*}} on "cp" : tensor<6x16xf32, #dist<cp: S(1:2), dp: S(1:1), tp: S(1)>>
// CHECK-SAME: -> tensor<6x16xf32, #dist<cp: R, dp: S(1:1), tp: S(1)>>
// CHECK-NEXT: dist.convert all_gather %[[INNER]] on "dp"

// ORDER-LABEL: @loss
// ORDER-SAME: tensor<6x16xf32, #dist<cp: S(1), dp: S(1:1)>> {nn.dims = "hf", nn.param = "up"}
// ORDER: %[[INNER:.*]] = dist.convert all_gather %{{.*}} on "dp" : tensor<6x16xf32
// ORDER-NEXT: dist.convert all_gather %[[INNER]] on "cp"

// ALONE-LABEL: @loss
// ALONE-SAME: tensor<6xf32, #dist<cp: S(0)>> {nn.dims = "h", nn.param = "scale"}
// ALONE-SAME: tensor<6x16xf32, #dist<cp: S(0), tp: S(1)>> {nn.dims = "hf", nn.param = "up"}

// Both gathers are in each micro-batch, and again in backward; a gradient is scattered over both there.
// THREE: nn.micro_batches
// THREE: %[[UP:.*]] = dist.convert all_gather %[[SHARD:.*]] on "cp" : tensor<6x16xf32
// THREE-NEXT: dist.convert all_gather %[[UP]] on "dp"
// THREE: %[[PART:.*]] = dist.convert reduce_scatter %{{.*}} on "dp" {nn.phase = #nn.phase<backward>} : tensor<16x5xf32
// THREE-NEXT: dist.convert reduce_scatter %[[PART]] on "cp"
// THREE: %[[AGAIN:.*]] = dist.convert all_gather %[[SHARD]] on "cp" {nn.phase = #nn.phase<backward>}
// THREE-NEXT: dist.convert all_gather %[[AGAIN]] on "dp" {nn.phase = #nn.phase<backward>}
// THREE: nn.yield
// THREE-NOT: reduce_scatter
!x = tensor<4x8x6xf32>
func.func @loss(%x: !x {nn.data = "x", nn.dims = "bsh"}, %scale: tensor<6xf32> {nn.param = "scale", nn.dims = "h"},
                %up: tensor<6x16xf32> {nn.param = "up", nn.dims = "hf"},
                %down: tensor<16x5xf32> {nn.param = "down", nn.dims = "fh"}) -> tensor<f32> {
  %y = nn.einsum "bsh,h->bsh" %x, %scale : (!x, tensor<6xf32>) -> !x
  %h = nn.einsum "bsh,hf->bsf" %y, %up : (!x, tensor<6x16xf32>) -> tensor<4x8x16xf32>
  %a = nn.map gelu %h : tensor<4x8x16xf32> -> tensor<4x8x16xf32>
  %z = nn.einsum "bsf,fh->bsh" %a, %down : (tensor<4x8x16xf32>, tensor<16x5xf32>) -> tensor<4x8x5xf32>
  %loss = nn.einsum "bsh->" %z : (tensor<4x8x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
