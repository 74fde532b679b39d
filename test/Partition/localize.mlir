// Global types become local shapes: slices of ceil(n / ranks); conversions become collectives or nothing.
// RUN: tessera-opt %s --rt-localize -split-input-file | FileCheck %s --implicit-check-not=dist.convert
// RUN: tessera-opt %s --rt-number-values --rt-localize=keep -split-input-file | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: @step
// CHECK-SAME: tensor<2x8xf32> {rt.global = tensor<4x8xf32, #dist<dp: S(0)>>}
// CHECK-SAME: tensor<8x5xf32> {rt.global = tensor<8x9xf32, #dist<tp: S(1)>>}
// CHECK-SAME: -> tensor<2x5xf32>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @step(%x: tensor<4x8xf32, #dist<dp: S(0)>>,
      %w: tensor<8x9xf32, #dist<tp: S(1)>>) -> tensor<4x9xf32, #dist<dp: S(0), tp: S(1)>> {
    %0 = dist.convert enter %x on "tp" : tensor<4x8xf32, #dist<dp: S(0)>> -> tensor<4x8xf32, #dist<dp: S(0), tp: R>>
    %1 = dist.convert enter %w on "dp" : tensor<8x9xf32, #dist<tp: S(1)>> -> tensor<8x9xf32, #dist<dp: R, tp: S(1)>>
    // CHECK-NEXT: nn.einsum "bh,hv->bv" %{{.*}} {rt.factors = {b = {axes = ["dp"], chunks = array<i64: 2>, total = 4
    // CHECK-SAME: : i64}, v = {axes = ["tp"], chunks = array<i64: 5>, total = 9 : i64}}}
    // CHECK-SAME: : (tensor<2x8xf32>, tensor<8x5xf32>) -> tensor<2x5xf32>
    // KEEP: nn.einsum {{.*}} rt.keep = [{global = tensor<4x9xf32, #dist<dp: S(0), tp: S(1)>>, name = "0:einsum"}]
    %2 = nn.einsum "bh,hv->bv" %0, %1
        : (tensor<4x8xf32, #dist<dp: S(0), tp: R>>, tensor<8x9xf32, #dist<dp: R, tp: S(1)>>)
        -> tensor<4x9xf32, #dist<dp: S(0), tp: S(1)>>
    return %2 : tensor<4x9xf32, #dist<dp: S(0), tp: S(1)>>
  }
}

// -----

// Each conversion that can be lowered; what communicates says why.
// CHECK-LABEL: @step
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<4x8xf32, #dist<tp: S(1)>>, %w: tensor<8x6xf32, #dist<tp: S(0)>>,
      %r: tensor<8xf32, #dist<tp: R>>) {
    // CHECK: %[[Y:.*]] = nn.einsum
    %y = nn.einsum "bh,hf->bf" %x, %w
        : (tensor<4x8xf32, #dist<tp: S(1)>>, tensor<8x6xf32, #dist<tp: S(0)>>) -> tensor<4x6xf32, #dist<tp: P>>
    // CHECK: rt.all_reduce %[[Y]] over ["tp"]
    // CHECK-SAME: {maximum = false, reason = "partial sums of a product over a split dimension"} : tensor<4x6xf32>
    // CHECK-SAME: -> tensor<4x6xf32>
    %sum = dist.convert all_reduce %y on "tp" : tensor<4x6xf32, #dist<tp: P>> -> tensor<4x6xf32>
    // CHECK: %[[M:.*]] = nn.max %{{.*}} : tensor<4x4xf32> -> tensor<4xf32>
    %m = nn.max %x : tensor<4x8xf32, #dist<tp: S(1)>> -> tensor<4xf32, #dist<tp: M>>
    // CHECK: rt.all_reduce %[[M]] over ["tp"] {maximum = true, reason = "largest logit over the split vocabulary"}
    %top = dist.convert all_reduce_max %m on "tp" : tensor<4xf32, #dist<tp: M>> -> tensor<4xf32>
    // CHECK: rt.first %{{.*}} on "tp" : tensor<8xf32> -> tensor<8xf32>
    %first = dist.convert replicated_to_partial %r on "tp" : tensor<8xf32, #dist<tp: R>> -> tensor<8xf32, #dist<tp: P>>
    // CHECK-NEXT: return
    %same = dist.convert leave %r on "tp" : tensor<8xf32, #dist<tp: R>> -> tensor<8xf32>
    return
  }
}

// -----

// Chunks move whole: padding is added before a scatter and cut off after a gather.
// CHECK-LABEL: @step
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%even: tensor<4x8xf32, #dist<tp: S(1)>>, %odd: tensor<4x7x2xf32, #dist<tp: S(1)>>,
      %p: tensor<5x2xf32, #dist<tp: P>>,
                  %i: tensor<4x7x2xf32>) {
    // CHECK: rt.all_gather %{{.*}} along 1 over ["tp"] {{.*}} : tensor<4x4xf32> -> tensor<4x8xf32>
    %0 = dist.convert all_gather %even on "tp" : tensor<4x8xf32, #dist<tp: S(1)>> -> tensor<4x8xf32, #dist<tp: R>>
    // CHECK: %[[G:.*]] = rt.all_gather %{{.*}} along 1 over ["tp"] {{.*}} : tensor<4x4x2xf32> -> tensor<4x8x2xf32>
    // CHECK-NEXT: rt.slice %[[G]] along 1 : tensor<4x8x2xf32> -> tensor<4x7x2xf32>
    %1 = dist.convert all_gather %odd on "tp" : tensor<4x7x2xf32, #dist<tp: S(1)>> -> tensor<4x7x2xf32>
    // CHECK: %[[P:.*]] = rt.pad %{{.*}} along 0 : tensor<5x2xf32> -> tensor<6x2xf32>
    // CHECK-NEXT: rt.reduce_scatter %[[P]] along 0 over ["tp"] {{.*}} : tensor<6x2xf32> -> tensor<3x2xf32>
    %2 = dist.convert reduce_scatter %p on "tp" : tensor<5x2xf32, #dist<tp: P>> -> tensor<5x2xf32, #dist<tp: S(0)>>
    // CHECK: %[[S:.*]] = rt.slice %{{.*}} along 1 on "tp" : tensor<4x7x2xf32> -> tensor<4x4x2xf32>
    %3 = dist.convert all_slice %i on "tp" : tensor<4x7x2xf32> -> tensor<4x7x2xf32, #dist<tp: S(1)>>
    // CHECK: rt.pad %[[S]] along 1 on "tp" : tensor<4x4x2xf32> -> tensor<4x7x2xf32>
    %4 = dist.convert sharded_to_partial %3 on "tp"
        : tensor<4x7x2xf32, #dist<tp: S(1)>> -> tensor<4x7x2xf32, #dist<tp: P>>
    return
  }
}

// -----

// Two axes on one dimension: the inner one cuts the chunk of the outer one.
// CHECK-LABEL: @step
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @step(%x: tensor<9xf32, #dist<dp: S(0), tp: S(0:1)>>) {
    // CHECK: nn.map gelu %{{.*}} {rt.factors = {a = {axes = ["dp", "tp"], chunks = array<i64: 5, 3>, total = 9
    // CHECK-SAME: : i64}}} : tensor<3xf32> -> tensor<3xf32>
    %y = nn.map gelu %x : tensor<9xf32, #dist<dp: S(0), tp: S(0:1)>> -> tensor<9xf32, #dist<dp: S(0), tp: S(0:1)>>
    return
  }
}

// -----

// Without a mesh nothing is split.
// CHECK-LABEL: @step
// CHECK-SAME: tensor<4x8xf32> {rt.global = tensor<4x8xf32>}
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: nn.map gelu %{{.*}} : tensor<4x8xf32> -> tensor<4x8xf32>
  %y = nn.map gelu %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Each rank gets the candidates of all and keeps the best; a split vocabulary is known to the op.
// CHECK-LABEL: @step
module attributes {dist.mesh = #dist.mesh<tp = 3>} {
  func.func @step(%x: tensor<1x4x61xf32, #dist<tp: S(2)>>) -> tensor<1x4x5x2xf32> {
    // CHECK: %[[PART:.*]] = nn.top %{{.*}} {count = 5 : i64, rt.factors = {v = {axes = ["tp"], chunks = array<i64: 21>, total = 61 : i64}}}
    // CHECK-SAME: (tensor<1x4x21xf32>) -> tensor<1x4x5x2xf32>
    %y = nn.top %x {count = 5 : i64} : (tensor<1x4x61xf32, #dist<tp: S(2)>>) -> tensor<1x4x5x2xf32, #dist<tp: C>>
    // CHECK-NEXT: %[[ALL:.*]] = rt.all_gather %[[PART]] along 0 over ["tp"] {reason = "best candidates of the split vocabulary"}
    // CHECK-SAME: tensor<1x4x5x2xf32> -> tensor<3x4x5x2xf32>
    // CHECK-NEXT: rt.merge_top %[[ALL]] : tensor<3x4x5x2xf32> -> tensor<1x4x5x2xf32>
    %z = dist.convert all_reduce_top %y on "tp" : tensor<1x4x5x2xf32, #dist<tp: C>> -> tensor<1x4x5x2xf32>
    return %z : tensor<1x4x5x2xf32>
  }
}

// -----

// A rank has beside each mean the logarithm of its weight, until the last merge; of bf16 both are f32.
// CHECK-LABEL: @step
module attributes {dist.mesh = #dist.mesh<cp = 2, tp = 4>} {
  func.func @step(%q: tensor<1x6x2x4x8xbf16, #dist<cp: R, tp: R>>, %k: tensor<1x4x16x2x8xbf16, #dist<cp: S(2), tp: S(2:1)>>,
      %s: tensor<1x6xi32, #dist<cp: R, tp: R>>) -> tensor<1x6x2x4x8xbf16, #dist<tp: S(3)>> {
    // CHECK: %[[PART:.*]] = nn.cached_attention {{.*}} weighted} : {{.*}}tensor<1x4x2x2x8xbf16>, {{.*}} -> tensor<1x6x2x4x9xf32>
    %y = nn.cached_attention %q, %k, %k at %s, %s <causal, scale = 0.25> {deal = 8 : i64}
        : (tensor<1x6x2x4x8xbf16, #dist<cp: R, tp: R>>, tensor<1x4x16x2x8xbf16, #dist<cp: S(2), tp: S(2:1)>>, tensor<1x4x16x2x8xbf16, #dist<cp: S(2), tp: S(2:1)>>,
           tensor<1x6xi32, #dist<cp: R, tp: R>>, tensor<1x6xi32, #dist<cp: R, tp: R>>) -> tensor<1x6x2x4x8xbf16, #dist<cp: L, tp: L>>
    // CHECK-NEXT: %[[PARTS:.*]] = rt.all_to_all %[[PART]] from 0 to 3 over ["tp"] {reason = "means of attention over split places"}
    // CHECK-SAME: tensor<1x6x2x4x9xf32> -> tensor<4x6x2x1x9xf32>
    // CHECK-NEXT: %[[MEAN:.*]] = rt.merge_means %[[PARTS]] : tensor<4x6x2x1x9xf32> -> tensor<1x6x2x1x9xf32>
    %z = dist.convert reduce_scatter_mean %y on "tp" : tensor<1x6x2x4x8xbf16, #dist<cp: L, tp: L>> -> tensor<1x6x2x4x8xbf16, #dist<cp: L, tp: S(3)>>
    // CHECK-NEXT: %[[ALL:.*]] = rt.all_gather %[[MEAN]] along 0 over ["cp"] {{.*}} -> tensor<2x6x2x1x9xf32>
    // CHECK-NEXT: rt.merge_means %[[ALL]] : tensor<2x6x2x1x9xf32> -> tensor<1x6x2x1x8xbf16>
    %w = dist.convert all_reduce_mean %z on "cp" : tensor<1x6x2x4x8xbf16, #dist<cp: L, tp: S(3)>> -> tensor<1x6x2x4x8xbf16, #dist<tp: S(3)>>
    return %w : tensor<1x6x2x4x8xbf16, #dist<tp: S(3)>>
  }
}
