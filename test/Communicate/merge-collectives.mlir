// Sums over two axes in a row become one; sums whose results are needed later are joined up to the size of a bucket.
// RUN: tessera-opt %s "--rt-merge-collectives=bucket-bytes=8192 least-buckets=1" | FileCheck %s
// RUN: tessera-opt %s --rt-merge-collectives=bucket-bytes=0 | FileCheck %s --check-prefix=ALONE
// RUN: not tessera-opt %s --rt-merge-collectives=bucket-bytes=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: cannot have 8 buckets of -1 bytes; use at least 1, of at least 0 bytes
!g = tensor<16xf32>
module {
  // CHECK-LABEL: func.func @step
  func.func @step() -> (tensor<f32>, !g, !g, !g) {
    // CHECK: %[[S:.*]] = rt.zero : tensor<f32>
    // CHECK-NEXT: %[[BOTH:.*]] = rt.all_reduce %[[S]] over ["dp", "tp"] {maximum = false}
    // ALONE: rt.all_reduce %{{.*}} over ["dp", "tp"]
    %s = rt.zero : tensor<f32>
    %s1 = rt.all_reduce %s over ["tp"] {maximum = false} : tensor<f32> -> tensor<f32>
    %s2 = rt.all_reduce %s1 over ["dp"] {maximum = false} : tensor<f32> -> tensor<f32>
    // A maximum of sums is neither.
    // CHECK: rt.all_reduce %{{.*}} over ["tp"] {maximum = true}
    // CHECK-NEXT: rt.all_reduce %{{.*}} over ["dp"] {maximum = false}
    %m = rt.zero : !g
    %m1 = rt.all_reduce %m over ["tp"] {maximum = true} : !g -> !g
    %m2 = rt.all_reduce %m1 over ["dp"] {maximum = false} : !g -> !g
    %use = rt.copy %m2 : !g -> !g
    // CHECK: %[[A:.*]] = rt.zero
    // CHECK-NEXT: %[[B:.*]] = rt.zero
    // CHECK-NEXT: %[[WHOLE:.*]] = rt.concat %[[A]], %[[B]] {part_offsets = array<i64: 0, 16>}
    // CHECK-SAME: : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
    // CHECK-NEXT: %[[SUM:.*]] = rt.all_reduce %[[WHOLE]] over ["dp"]
    // CHECK-SAME: {maximum = false, nn.phase = #nn.phase<backward>, reason = "batch"} : tensor<32xf32>
    // CHECK-DAG: %[[VA:.*]] = rt.view %[[SUM]] {offset = 0 : i64, rt.role = [{nn.param = "a"}]} : tensor<32xf32> -> tensor<16xf32>
    // CHECK-DAG: %[[VB:.*]] = rt.view %[[SUM]] {offset = 16 : i64} : tensor<32xf32> -> tensor<16xf32>
    // ALONE-COUNT-2: rt.all_reduce %{{.*}} over ["dp"] {maximum = false, nn.phase = #nn.phase<backward>
    %a = rt.zero : !g
    %a1 = rt.all_reduce %a over ["dp"]
        {maximum = false, nn.phase = #nn.phase<backward>, reason = "batch", rt.role = [{nn.param = "a"}]} : !g -> !g
    %b = rt.zero : !g
    %b1 = rt.all_reduce %b over ["dp"] {maximum = false, nn.phase = #nn.phase<backward>, reason = "batch"} : !g -> !g
    // Read before the next one: a bucket of its own.
    // CHECK: rt.copy %[[VA]]
    // CHECK: rt.all_reduce %{{.*}} over ["dp"] {maximum = false} : tensor<16xf32>
    %early = rt.copy %a1 : !g -> !g
    %c = rt.zero : !g
    %c1 = rt.all_reduce %c over ["dp"] {maximum = false} : !g -> !g
    // CHECK: return %[[BOTH]], %[[VA]], %[[VB]]
    return %s2, %a1, %b1, %c1 : tensor<f32>, !g, !g, !g
  }
}
