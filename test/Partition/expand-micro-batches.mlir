// One micro-batch is inlined; more become a loop that adds to zeros.
// RUN: tessera-opt %s --rt-expand-micro-batches | FileCheck %s --implicit-check-not=nn.micro_batches

// CHECK-LABEL: @one
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8xf32>
func.func @one(%x: tensor<1x4x8xf32>) -> tensor<8xf32> {
  %sum = nn.micro_batches 1 of (%x) attributes {rt.role = [{nn.role = "gradient"}]}
      : (tensor<1x4x8xf32>) -> tensor<8xf32> {
  ^bb0(%part: tensor<4x8xf32>):
    // CHECK-NEXT: %[[V:.*]] = rt.view %[[X]] {offset = 0 : i64, stride = 32 : i64} : tensor<1x4x8xf32>
    // CHECK-SAME: -> tensor<4x8xf32>
    // CHECK-NEXT: %[[Y:.*]] = nn.einsum "bh->h" %[[V]] {rt.role = [{nn.role = "gradient"}]}
    %y = nn.einsum "bh->h" %part : (tensor<4x8xf32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  // CHECK-NEXT: return %[[Y]]
  return %sum : tensor<8xf32>
}

// CHECK-LABEL: @three
// CHECK-SAME: %[[X:.*]]: tensor<3x4x8xf32>
func.func @three(%x: tensor<3x4x8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[ZERO:.*]] = rt.zero : tensor<8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = rt.loop 3 init(%[[ZERO]]) attributes {rt.role = [{nn.role = "gradient"}]}
  %sum = nn.micro_batches 3 of (%x) attributes {rt.role = [{nn.role = "gradient"}]}
      : (tensor<3x4x8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[ACC:.*]]: tensor<8xf32>):
  ^bb0(%part: tensor<4x8xf32>):
    // CHECK-NEXT: %[[V:.*]] = rt.view %[[X]][%[[I]]] {offset = 0 : i64, stride = 32 : i64}
    // CHECK-NEXT: %[[Y:.*]] = nn.einsum "bh->h" %[[V]]
    %y = nn.einsum "bh->h" %part : (tensor<4x8xf32>) -> tensor<8xf32>
    // CHECK-NEXT: %[[NEXT:.*]] = nn.add "a,a->a" %[[ACC]], %[[Y]]
    // CHECK-NEXT: rt.yield %[[NEXT]]
    nn.yield %y : tensor<8xf32>
  }
  // CHECK: return %[[SUM]]
  return %sum : tensor<8xf32>
}
