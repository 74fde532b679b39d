// Heads, lanes and places of a cache may be split, slots not; the result rests as the cache does.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!cache = tensor<2x4x16x4x8xf32, #dist<dp: S(0), tp: S(3)>>
!rows = tensor<2x6x4x8xf32, #dist<dp: S(0), tp: S(2)>>
!data = tensor<2x6xi32, #dist<dp: S(0), tp: R>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  // CHECK-LABEL: @heads_and_lanes
  func.func @heads_and_lanes(%c: !cache, %r: !rows, %s: !data, %p: !data) -> !cache {
    // CHECK: nn.append %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} : ({{.*}}) -> tensor<2x4x16x4x8xf32, #dist<dp: S(0), tp: S(3)>>
    %y = nn.append %c, %r at %s, %p : (!cache, !rows, !data, !data) -> !cache
    return %y : !cache
  }

  // Every rank gets all rows, and has those of its places.
  // CHECK-LABEL: @places
  func.func @places(%c: tensor<1x4x16x2x8xf32, #dist<tp: S(2)>>, %r: tensor<1x6x2x8xf32, #dist<tp: R>>, %s: tensor<1x6xi32, #dist<tp: R>>) {
    // CHECK: nn.append {{.*}} {deal = 2 : i64} : {{.*}} -> tensor<1x4x16x2x8xf32, #dist<tp: S(2)>>
    %y = nn.append %c, %r at %s, %s {deal = 2 : i64}
        : (tensor<1x4x16x2x8xf32, #dist<tp: S(2)>>, tensor<1x6x2x8xf32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>, tensor<1x6xi32, #dist<tp: R>>) -> tensor<1x4x16x2x8xf32, #dist<tp: S(2)>>
    return
  }

  // CHECK-LABEL: @copies
  func.func @copies(%c: tensor<1x4x16x2x8xf32>, %r: tensor<1x6x2x8xf32>, %s: tensor<1x6xi32>) {
    // CHECK: nn.append
    %y = nn.append %c, %r at %s, %s : (tensor<1x4x16x2x8xf32>, tensor<1x6x2x8xf32>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x4x16x2x8xf32>
    return
  }
}
