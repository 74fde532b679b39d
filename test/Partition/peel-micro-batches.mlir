// The last micro-batch stands after a loop of the others where backward reduces a sum: the same
// order of partial sums, and verify sees the last one.
// RUN: tessera-opt %s --split-input-file --rt-expand-micro-batches=peel \
// RUN:   | FileCheck %s --implicit-check-not=nn.micro_batches
// RUN: tessera-opt %s --split-input-file --rt-expand-micro-batches | FileCheck %s --check-prefix=LOOP
!x = tensor<3x4x8xf32>
!g = tensor<8xf32>

// LOOP-LABEL: @reduced
// LOOP: rt.loop 3
// CHECK-LABEL: @reduced
// CHECK-SAME: %[[X:.*]]: tensor<3x4x8xf32>
func.func @reduced(%x: !x) -> !g {
  // CHECK-NEXT: %[[ZERO:.*]] = rt.zero : tensor<8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = rt.loop 2 init(%[[ZERO]]) attributes {rt.role = [{nn.role = "gradient"}]}
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[ACC:.*]]: tensor<8xf32>):
  // CHECK-NEXT: %[[V:.*]] = rt.view %[[X]][%[[I]]] {offset = 0 : i64, stride = 32 : i64}
  // CHECK-NEXT: %[[D:.*]] = nn.dropout %[[V]] {p = 1.000000e-01 : f64, stream = 1 : i64}
  // CHECK-NEXT: %[[Y:.*]] = nn.einsum "bh->h" %[[D]] : (tensor<4x8xf32>)
  // CHECK-NEXT: %[[NEXT:.*]] = nn.add "a,a->a" %[[ACC]], %[[Y]]
  // CHECK-NEXT: nn.map gelu
  // CHECK-NEXT: rt.yield %[[NEXT]]
  // CHECK: %[[LAST:.*]] = rt.view %[[X]] {offset = 64 : i64, stride = 32 : i64}
  // CHECK-NEXT: %[[D2:.*]] = nn.dropout %[[LAST]] {{.*}}rt.micro_batch = 2 : i64
  // CHECK-NEXT: %[[Y2:.*]] = nn.einsum "bh->h" %[[D2]] {rt.keep = [{name = "3"}], rt.micro_batch = 2 : i64}
  // CHECK-NEXT: %[[ALL:.*]] = nn.add "a,a->a" %[[SUM]], %[[Y2]]
  // CHECK-SAME: {rt.keep = [{name = "w"}], rt.role = [{nn.role = "gradient"}]}
  // CHECK-NEXT: nn.map gelu
  // CHECK-NEXT: rt.all_reduce %[[ALL]]
  %sum = nn.micro_batches 3 of (%x) attributes {rt.keep = [{name = "w"}], rt.role = [{nn.role = "gradient"}]}
      : (!x) -> !g {
  ^bb0(%part: tensor<4x8xf32>):
    %d = nn.dropout %part {p = 0.1 : f64, stream = 1 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
    %y = nn.einsum "bh->h" %d {rt.keep = [{name = "3"}]} : (tensor<4x8xf32>) -> !g
    %work = nn.map gelu %d : tensor<4x8xf32> -> tensor<4x8xf32>
    nn.yield %y : !g
  }
  %all = rt.all_reduce %sum over ["dp"] {maximum = false, nn.phase = #nn.phase<backward>} : !g -> !g
  return %all : !g
}

// -----

// A loss alone, or nothing, is reduced: the plain loop.
// CHECK-LABEL: @forward
// CHECK: rt.loop 3
// CHECK: rt.loop 3
func.func @forward(%x: tensor<3x4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %loss = nn.micro_batches 3 of (%x) : (tensor<3x4x8xf32>) -> tensor<8xf32> {
  ^bb0(%part: tensor<4x8xf32>):
    %y = nn.einsum "bh->h" %part : (tensor<4x8xf32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  %all = rt.all_reduce %loss over ["dp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  %alone = nn.micro_batches 3 of (%x) : (tensor<3x4x8xf32>) -> tensor<8xf32> {
  ^bb0(%part: tensor<4x8xf32>):
    %y = nn.einsum "bh->h" %part : (tensor<4x8xf32>) -> tensor<8xf32>
    nn.yield %y : tensor<8xf32>
  }
  return %all, %alone : tensor<8xf32>, tensor<8xf32>
}
