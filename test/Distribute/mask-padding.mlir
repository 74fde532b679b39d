// RUN: tessera-opt %s -split-input-file --dist-mask-padding | FileCheck %s
// RUN: tessera-opt %s -split-input-file --dist-mask-padding=poison | FileCheck %s --check-prefix=POISON
// RUN: tessera-opt %s -split-input-file --dist-mask-padding --dist-erase | FileCheck %s --check-prefix=ERASED

// Sums over tokens of a softmax over two experts, with a sequence that tp does
// not divide: exp of a row of zeros is not zero, and 1 over it less so.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<5x2xf32, #dist<tp: S(0) Z>>
  // ERASED-LABEL: @step
  // ERASED-NOT: dist
  func.func @step(%logits: tensor<5x2xf32, #dist<tp: S(0)>>) -> tensor<2xf32> {
    // CHECK: %[[E:.*]] = nn.map exp {{.*}} -> tensor<5x2xf32, #dist<tp: S(0) F>>
    // POISON: nn.map exp
    // POISON-NEXT: dist.mask {{.*}} dim 0 fill F
    %e = nn.map exp %logits : tensor<5x2xf32, #dist<tp: S(0)>> -> tensor<5x2xf32, #dist<tp: S(0)>>
    %z = nn.einsum "sx->s" %e : (tensor<5x2xf32, #dist<tp: S(0)>>) -> tensor<5xf32, #dist<tp: S(0)>>
    // CHECK: %[[R:.*]] = nn.map reciprocal {{.*}} -> tensor<5xf32, #dist<tp: S(0)>>
    // CHECK-NEXT: %[[M:.*]] = dist.mask %[[R]] dim 0 fill Z : {{.*}} -> tensor<5xf32, #dist<tp: S(0) Z>>
    // CHECK-NEXT: nn.einsum "sx,s->x" %[[E]], %[[M]]
    // POISON: %[[R:.*]] = nn.map reciprocal
    // POISON-NEXT: %[[X:.*]] = dist.mask %[[R]] dim 0 fill X
    // POISON-NEXT: dist.mask %[[X]] dim 0 fill Z
    %r = nn.map reciprocal %z : tensor<5xf32, #dist<tp: S(0)>> -> tensor<5xf32, #dist<tp: S(0)>>
    %p = nn.einsum "sx,s->x" %e, %r
      : (tensor<5x2xf32, #dist<tp: S(0)>>, tensor<5xf32, #dist<tp: S(0)>>) -> tensor<2xf32, #dist<tp: P>>
    %sum = dist.convert all_reduce %p on "tp" : tensor<2xf32, #dist<tp: P>> -> tensor<2xf32>
    return %sum : tensor<2xf32>
  }
}

// -----

// One mask of logits serves the maximum, exp and exp's gradient.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @step
  func.func @step(%x: tensor<4x61xf32, #dist<tp: S(1)>> {nn.data = "x"}) -> tensor<4xf32> {
    // CHECK: %[[N:.*]] = dist.mask {{.*}} dim 1 fill N
    // CHECK-NEXT: nn.max %[[N]]
    %m = nn.max %x : tensor<4x61xf32, #dist<tp: S(1)>> -> tensor<4xf32, #dist<tp: M>>
    %top = dist.convert all_reduce_max %m on "tp" : tensor<4xf32, #dist<tp: M>> -> tensor<4xf32>
    %t = dist.convert enter %top on "tp" : tensor<4xf32> -> tensor<4xf32, #dist<tp: R>>
    // CHECK: nn.add "bv,b->bv" %[[N]]
    %d = nn.add "bv,b->bv" %x, %t {coefs = array<f64: 1.0, -1.0>}
      : (tensor<4x61xf32, #dist<tp: S(1)>>, tensor<4xf32, #dist<tp: R>>) -> tensor<4x61xf32, #dist<tp: S(1)>>
    // CHECK-NEXT: nn.map exp {{.*}} -> tensor<4x61xf32, #dist<tp: S(1) Z>>
    // CHECK-NOT: dist.mask %
    // CHECK: return
    %e = nn.map exp %d : tensor<4x61xf32, #dist<tp: S(1)>> -> tensor<4x61xf32, #dist<tp: S(1)>>
    %z = nn.einsum "bv->b" %e : (tensor<4x61xf32, #dist<tp: S(1)>>) -> tensor<4xf32, #dist<tp: P>>
    %sum = dist.convert all_reduce %z on "tp" : tensor<4xf32, #dist<tp: P>> -> tensor<4xf32>
    return %sum : tensor<4xf32>
  }
}

// -----

// A value at rest must have zeros.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @step
  func.func @step(%x: tensor<5xf32, #dist<tp: S(0)>>) -> tensor<5xf32, #dist<tp: S(0)>> {
    // CHECK: %[[E:.*]] = nn.map exp
    // CHECK-NEXT: %[[Z:.*]] = dist.mask %[[E]] dim 0 fill Z
    // CHECK-NEXT: return %[[Z]]
    %e = nn.map exp %x : tensor<5xf32, #dist<tp: S(0)>> -> tensor<5xf32, #dist<tp: S(0)>>
    return %e : tensor<5xf32, #dist<tp: S(0)>>
  }
}

// -----

// Nothing is said where the mesh divides all sizes.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @step
  // CHECK-SAME: tensor<4xf32, #dist<tp: S(0)>>
  func.func @step(%x: tensor<4xf32, #dist<tp: S(0)>>) -> tensor<4xf32, #dist<tp: S(0)>> {
    // CHECK-NEXT: nn.map exp
    // CHECK-NEXT: return
    %e = nn.map exp %x : tensor<4xf32, #dist<tp: S(0)>> -> tensor<4xf32, #dist<tp: S(0)>>
    return %e : tensor<4xf32, #dist<tp: S(0)>>
  }
}

// -----

// Nothing is known of ops of other dialects.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @step
  func.func @step(%x: tensor<5xf32, #dist<tp: S(0)>> {nn.data = "x"}) -> tensor<f32> {
    %y = arith.negf %x : tensor<5xf32, #dist<tp: S(0)>>
    // CHECK: dist.mask %{{.*}} dim 0 fill Z
    %z = nn.einsum "a->" %y : (tensor<5xf32, #dist<tp: S(0)>>) -> tensor<f32, #dist<tp: P>>
    %sum = dist.convert all_reduce %z on "tp" : tensor<f32, #dist<tp: P>> -> tensor<f32>
    return %sum : tensor<f32>
  }
}
