// Parameters, data and the residual stream are placed; conversions follow, each made once.
// RUN: tessera-opt %s --dist-distribute=mesh=dp=2,tp=2 | FileCheck %s
// RUN: tessera-opt %s --dist-distribute=mesh=dp=1,tp=1 \
// RUN:   | FileCheck %s --check-prefix=ONE --implicit-check-not=dist.convert

// CHECK: module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>}
// ONE: module attributes {dist.mesh = #dist.mesh<dp = 1, tp = 1>}

// CHECK-LABEL: @column_then_row
// CHECK-SAME: tensor<4x8xf32, #dist<dp: S(0)>>
// CHECK-SAME: tensor<8x16xf32, #dist<tp: S(1)>> {nn.dims = "hf", nn.param = "up"}
// CHECK-SAME: tensor<16x8xf32, #dist<tp: S(0)>> {nn.dims = "fh", nn.param = "down"}
func.func @column_then_row(%x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"},
    %up: tensor<8x16xf32> {nn.param = "up", nn.dims = "hf"},
                           %down: tensor<16x8xf32> {nn.param = "down", nn.dims = "fh"}) -> tensor<f32> {
  // CHECK-DAG: dist.convert enter %{{.*}} on "dp" : tensor<8x16xf32, #dist<tp: S(1)>> -> tensor<8x16xf32, #dist<dp: R, tp: S(1)>>
  // CHECK-DAG: dist.convert enter %{{.*}} on "tp" : tensor<4x8xf32, #dist<dp: S(0)>> -> tensor<4x8xf32, #dist<dp: S(0), tp: R>>
  // CHECK: nn.einsum "bh,hf->bf" {{.*}} -> tensor<4x16xf32, #dist<dp: S(0), tp: S(1)>>
  %h = nn.einsum "bh,hf->bf" %x, %up : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: nn.map gelu {{.*}} -> tensor<4x16xf32, #dist<dp: S(0), tp: S(1)>>
  %a = nn.map gelu %h : tensor<4x16xf32> -> tensor<4x16xf32>
  // CHECK: nn.einsum "bf,fh->bh" {{.*}} -> tensor<4x8xf32, #dist<dp: S(0), tp: P>>
  %y = nn.einsum "bf,fh->bh" %a, %down : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: dist.convert all_reduce %{{.*}} on "tp" : tensor<4x8xf32, #dist<dp: S(0), tp: P>>
  // CHECK-SAME: -> tensor<4x8xf32, #dist<dp: S(0)>>
  // CHECK-NEXT: nn.add {{.*}} -> tensor<4x8xf32, #dist<dp: S(0)>>
  %r = nn.add "bh,bh->bh" %x, %y {nn.tag = #nn.tag<stream>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: dist.convert all_reduce %{{.*}} on "dp" : tensor<f32, #dist<dp: P>> -> tensor<f32>
  // CHECK-NEXT: return %{{.*}} : tensor<f32>
  %loss = nn.einsum "bh->" %r : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: @used_twice_converted_once
func.func @used_twice_converted_once(%x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"},
    %w: tensor<8xf32> {nn.param = "w", nn.dims = "h"}) -> tensor<4x8xf32> {
  // CHECK: dist.convert enter %{{.*}} on "dp"
  // CHECK-NOT: dist.convert enter
  %y = nn.add "bh,h->bh" %x, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %z = nn.einsum "bh,h->bh" %y, %w : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: dist.convert all_gather %{{.*}} on "dp"
  return %z : tensor<4x8xf32>
}
