// Key heads are split alike in query and caches; where caches are whole, query heads may be split within their groups.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s

!places = tensor<1x4x16x4x8xf32, #dist<tp: S(2)>>
!cache = tensor<1x4x16x4x8xf32, #dist<tp: S(3)>>
!whole = tensor<1x4x16x4x8xf32, #dist<tp: R>>
!data = tensor<1x6xi32, #dist<tp: R>>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @key_heads
  func.func @key_heads(%q: tensor<1x6x4x2x8xf32, #dist<tp: S(2)>>, %k: !cache, %s: !data) {
    // CHECK: nn.cached_attention {{.*}} <causal, scale = 2.500000e-01> : {{.*}} -> tensor<1x6x4x2x8xf32, #dist<tp: S(2)>>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25>
        : (tensor<1x6x4x2x8xf32, #dist<tp: S(2)>>, !cache, !cache, !data, !data) -> tensor<1x6x4x2x8xf32, #dist<tp: S(2)>>
    return
  }

  // CHECK-LABEL: @query_heads
  func.func @query_heads(%q: tensor<1x6x4x2x8xf32, #dist<tp: S(3)>>, %k: !whole, %s: !data) {
    // CHECK: nn.cached_attention {{.*}} <causal, scale = 2.500000e-01, window = 5> : {{.*}} -> tensor<1x6x4x2x8xf32, #dist<tp: S(3)>>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25, window = 5>
        : (tensor<1x6x4x2x8xf32, #dist<tp: S(3)>>, !whole, !whole, !data, !data) -> tensor<1x6x4x2x8xf32, #dist<tp: S(3)>>
    return
  }

  // A rank has the mean over its places.
  // CHECK-LABEL: @places
  func.func @places(%q: tensor<1x6x4x2x8xf32, #dist<tp: R>>, %k: !places, %s: !data) {
    // CHECK: nn.cached_attention {{.*}} <{{.*}}> {deal = 2 : i64} : {{.*}} -> tensor<1x6x4x2x8xf32, #dist<tp: L>>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25> {deal = 2 : i64}
        : (tensor<1x6x4x2x8xf32, #dist<tp: R>>, !places, !places, !data, !data) -> tensor<1x6x4x2x8xf32, #dist<tp: L>>
    return
  }

  // With its weight beside each head: f32 of bf16.
  // CHECK-LABEL: @weighted
  func.func @weighted(%q: tensor<1x6x4x8xbf16>, %k: tensor<1x4x16x4x8xbf16>, %s: tensor<1x6xi32>) {
    // CHECK: nn.cached_attention {{.*}} {weighted} : {{.*}} -> tensor<1x6x4x9xf32>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25> {weighted}
        : (tensor<1x6x4x8xbf16>, tensor<1x4x16x4x8xbf16>, tensor<1x4x16x4x8xbf16>, tensor<1x6xi32>, tensor<1x6xi32>) -> tensor<1x6x4x9xf32>
    return
  }

  // A table of biases by distance is split with the heads.
  // CHECK-LABEL: @biases
  func.func @biases(%q: tensor<1x6x4x8xf32, #dist<tp: S(2)>>, %k: !cache, %s: !data, %b: tensor<8x4xf32, #dist<tp: S(1)>>) {
    // CHECK: nn.cached_attention {{.*}} bias %{{.*}} <causal, scale = 1.000000e+00, max_distance = 9> : {{.*}} -> tensor<1x6x4x8xf32, #dist<tp: S(2)>>
    %y = nn.cached_attention %q, %k, %k at %s, %s bias %b <causal, scale = 1.0, max_distance = 9>
        : (tensor<1x6x4x8xf32, #dist<tp: S(2)>>, !cache, !cache, !data, !data, tensor<8x4xf32, #dist<tp: S(1)>>) -> tensor<1x6x4x8xf32, #dist<tp: S(2)>>
    return
  }

  // CHECK-LABEL: @heads_without_groups
  func.func @heads_without_groups(%q: tensor<1x6x4x8xf32, #dist<tp: S(2)>>, %k: !cache, %s: !data) {
    // CHECK: nn.cached_attention {{.*}} -> tensor<1x6x4x8xf32, #dist<tp: S(2)>>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25>
        : (tensor<1x6x4x8xf32, #dist<tp: S(2)>>, !cache, !cache, !data, !data) -> tensor<1x6x4x8xf32, #dist<tp: S(2)>>
    return
  }
}
