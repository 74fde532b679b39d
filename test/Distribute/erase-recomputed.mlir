// An op that repeats an earlier one is erased; one that differs in an attribute, a stream or an operand stays.
// RUN: tessera-opt %s --dist-erase | FileCheck %s
module {
  // CHECK: func.func @step(%[[X:.*]]: tensor<4x8xf32>, %[[Z:.*]]: tensor<4x8xf32>)
  func.func @step(%x: tensor<4x8xf32>,
      %z: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    // CHECK-NEXT: %[[A:.*]] = nn.map relu %[[X]]
    // CHECK-NEXT: %[[D:.*]] = nn.dropout %[[A]] {p = 1.000000e-01 : f64, stream = 3 : i64}
    %a = nn.map relu %x : tensor<4x8xf32> -> tensor<4x8xf32>
    %d = nn.dropout %a {p = 0.1 : f64, stream = 3 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
    %a1 = nn.map relu %x {nn.phase = #nn.phase<recompute>} : tensor<4x8xf32> -> tensor<4x8xf32>
    %same = nn.dropout %a1 {nn.phase = #nn.phase<recompute>, p = 0.1 : f64, stream = 3 : i64}
        : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: %[[STREAM:.*]] = nn.dropout %[[A]] {nn.phase = #nn.phase<recompute>, p = 1.000000e-01
    // CHECK-SAME: : f64, stream = 5 : i64}
    %stream = nn.dropout %a1 {nn.phase = #nn.phase<recompute>, p = 0.1 : f64, stream = 5 : i64}
        : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: %[[RATE:.*]] = nn.dropout %[[A]] {nn.phase = #nn.phase<recompute>, p = 2.000000e-01
    // CHECK-SAME: : f64, stream = 3 : i64}
    %rate = nn.dropout %a1 {nn.phase = #nn.phase<recompute>, p = 0.2 : f64, stream = 3 : i64}
        : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: %[[OTHER:.*]] = nn.map relu %[[Z]] {nn.phase = #nn.phase<recompute>}
    %other = nn.map relu %z {nn.phase = #nn.phase<recompute>} : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK-NEXT: return %[[D]], %[[STREAM]], %[[RATE]], %[[OTHER]]
    return %same, %stream, %rate, %other : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}
