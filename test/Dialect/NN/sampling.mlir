// RUN: tessera-opt %s | tessera-opt | FileCheck %s

// CHECK-LABEL: @serial
func.func @serial(%x: tensor<1x4x61xf32>, %t: tensor<1x4x16xi32>, %n: tensor<1x4xf32>, %d: tensor<1x4x3xi32>) {
  // CHECK: nn.penalize %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x61xf32>, tensor<1x4x16xi32>, tensor<1x4xf32>) -> tensor<1x4x61xf32>
  %y = nn.penalize %x, %t, %n : (tensor<1x4x61xf32>, tensor<1x4x16xi32>, tensor<1x4xf32>) -> tensor<1x4x61xf32>
  // CHECK: nn.top %{{.*}} {count = 5 : i64} : (tensor<1x4x61xf32>) -> tensor<1x4x5x2xf32>
  %b = nn.top %y {count = 5 : i64} : (tensor<1x4x61xf32>) -> tensor<1x4x5x2xf32>
  // CHECK: nn.top %{{.*}} draw %{{.*}}, %{{.*}} {count = 1 : i64} : (tensor<1x4x61xf32>, tensor<1x4xf32>, tensor<1x4x3xi32>) -> tensor<1x4x1x3xf32>
  %c = nn.top %y draw %n, %d {count = 1 : i64} : (tensor<1x4x61xf32>, tensor<1x4xf32>, tensor<1x4x3xi32>) -> tensor<1x4x1x3xf32>
  return
}

// Lanes are split with their rows; a split vocabulary leaves candidates, whose padding nobody reads.
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>, dist.masked} {
  // CHECK-LABEL: @split
  func.func @split(%x: tensor<2x4x61xf32, #dist<dp: S(0), tp: S(2)>>, %t: tensor<2x4x16xi32, #dist<dp: S(0), tp: R>>, %n: tensor<2x4xf32, #dist<dp: S(0), tp: R>>) {
    // CHECK: nn.penalize {{.*}} -> tensor<2x4x61xf32, #dist<dp: S(0), tp: S(2)>>
    %y = nn.penalize %x, %t, %n : (tensor<2x4x61xf32, #dist<dp: S(0), tp: S(2)>>, tensor<2x4x16xi32, #dist<dp: S(0), tp: R>>, tensor<2x4xf32, #dist<dp: S(0), tp: R>>) -> tensor<2x4x61xf32, #dist<dp: S(0), tp: S(2)>>
    // CHECK: nn.top {{.*}} -> tensor<2x4x5x2xf32, #dist<dp: S(0), tp: C>>
    %b = nn.top %y {count = 5 : i64} : (tensor<2x4x61xf32, #dist<dp: S(0), tp: S(2)>>) -> tensor<2x4x5x2xf32, #dist<dp: S(0), tp: C>>
    return
  }
}
