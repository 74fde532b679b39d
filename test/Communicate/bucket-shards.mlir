// Small shards move together: rows of a bucket are the ranks' chunks, and members are columns of it.
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=1 bucket-bytes=65536 largest-copy=256" --split-input-file | FileCheck %s
// RUN: tessera-opt %s --rt-bucket-shards="bucket-bytes=0" --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=2" --split-input-file | FileCheck %s --check-prefix=TWO
// RUN: not tessera-opt %s --rt-bucket-shards="least-buckets=0" --split-input-file 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: error: cannot have 0 buckets of 26214400 bytes; use at least 1, of at least 0 bytes
// The memory plan places the copies inside of the bucket, and its check agrees.
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=1 largest-copy=256" --tessera-memory --split-input-file \
// RUN:   | FileCheck %s --check-prefix=PLAN

// PLAN-LABEL: func.func @step
// PLAN: %[[A:.*]] = rt.copy {{.*}} {rt.offsets = array<i64: [[#BEGIN:]]>} : tensor<2x8xf32>
// PLAN: rt.copy {{.*}} {rt.offsets = array<i64: [[#BEGIN+32]]>} : tensor<2x16xf32>
// PLAN: rt.concat {{.*}}, rt.offsets = array<i64: [[#BEGIN]]>

// NONE: rt.reduce_scatter %{{.*}} along 0 over ["dp"] {{.*}}: tensor<16xf32>
// NONE-NOT: rt.concat

// CHECK-LABEL: func.func @step
!p = tensor<8xf32>
module {
  func.func private @f(tensor<16xf32>) -> tensor<16xf32>
  func.func private @sum(tensor<8xf32>, tensor<16xf32>) -> tensor<8xf32>
  func.func @step() -> (tensor<8xf32>, tensor<3xf32>, tensor<8192xf32>) {
    // CHECK: %[[A:.*]] = rt.zero : tensor<16xf32>
    // CHECK-NEXT: %[[A2:.*]] = rt.view %[[A]] {offset = 0 : i64} : tensor<16xf32> -> tensor<2x8xf32>
    // CHECK-NEXT: %[[A3:.*]] = rt.copy %[[A2]]
    %a = rt.zero : tensor<16xf32>
    %a1 = rt.reduce_scatter %a along 0 over ["dp"] {reason = "gradient", rt.role = [{nn.param = "a"}]}
        : tensor<16xf32> -> tensor<8xf32>
    // CHECK: %[[B:.*]] = rt.zero : tensor<8x4xf32>
    // CHECK-NEXT: %[[B2:.*]] = rt.view %[[B]] {offset = 0 : i64} : tensor<8x4xf32> -> tensor<2x16xf32>
    // CHECK-NEXT: %[[B3:.*]] = rt.copy %[[B2]]
    %b = rt.zero : tensor<8x4xf32>
    %b1 = rt.reduce_scatter %b along 0 over ["dp"] : tensor<8x4xf32> -> tensor<4x4xf32>
    // Chunks along another dimension are not contiguous, and a large tensor is not copied.
    // CHECK: rt.reduce_scatter %{{.*}} along 1 over ["dp"] : tensor<2x6xf32>
    %c = rt.zero : tensor<2x6xf32>
    %c1 = rt.reduce_scatter %c along 1 over ["dp"] : tensor<2x6xf32> -> tensor<2x3xf32>
    // CHECK: rt.reduce_scatter %{{.*}} along 0 over ["dp"] : tensor<16384xf32>
    %d = rt.zero : tensor<16384xf32>
    %d1 = rt.reduce_scatter %d along 0 over ["dp"] : tensor<16384xf32> -> tensor<8192xf32>
    // What begins in the middle of a cache line is copied out.
    // CHECK: %[[WHOLE:.*]] = rt.concat %[[A3]], %[[B3]], %{{.*}} {part_offsets = array<i64: 0, 8, 24>}
    // CHECK-SAME: -> tensor<2x27xf32>
    // CHECK-NEXT: %[[SUM:.*]] = rt.reduce_scatter %[[WHOLE]] along 0 over ["dp"] {reason = "gradient"}
    // CHECK-SAME: : tensor<2x27xf32> -> tensor<1x27xf32>
    // CHECK-NEXT: rt.view %[[SUM]] {offset = 0 : i64, rt.role = [{nn.param = "a"}]} : tensor<1x27xf32> -> tensor<8xf32>
    // CHECK-NEXT: %[[VIEW:.*]] = rt.view %[[SUM]] {offset = 8 : i64} : tensor<1x27xf32> -> tensor<4x4xf32>
    // CHECK-NEXT: rt.copy %[[VIEW]]
    // CHECK-NEXT: %[[E:.*]] = rt.view %[[SUM]] {offset = 24 : i64} : tensor<1x27xf32> -> tensor<3xf32>
    // CHECK-NEXT: rt.copy %[[E]]
    %e = rt.zero : tensor<6xf32>
    %e1 = rt.reduce_scatter %e along 0 over ["dp"] : tensor<6xf32> -> tensor<3xf32>
    %b2 = rt.view %b1 {offset = 0 : i64} : tensor<4x4xf32> -> tensor<16xf32>
    %t = rt.launch @sum(%a1, %b2) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>, tensor<16xf32>) -> tensor<8xf32>
    return %t, %e1, %d1 : tensor<8xf32>, tensor<3xf32>, tensor<8192xf32>
  }
}

// -----

// Parameters that are small beside the others are gathered before the first one is used, rounded ones too; an
// activation is not.
// PLAN-LABEL: func.func @step
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[P:.*]]: tensor<4xf32> {{.*}}, %[[Q:.*]]: tensor<2x3xf32>
// CHECK: rt.all_gather %{{.*}} along 0 over ["dp"] : tensor<4096xf32> -> tensor<8192xf32>
// CHECK: %[[P2:.*]] = rt.copy %{{.*}} : tensor<4xf32>
// CHECK: %[[Q1:.*]] = rt.launch @round(%[[Q]])
// CHECK: %[[Q2:.*]] = rt.copy %{{.*}} : tensor<6xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = rt.concat %[[P2]], %[[Q2]] {part_offsets = array<i64: 0, 4>} {{.*}} -> tensor<1x10xf32>
// CHECK-NEXT: %[[ALL:.*]] = rt.all_gather %[[WHOLE]] along 0 over ["dp"] : tensor<1x10xf32> -> tensor<2x10xf32>
// CHECK: %[[PC:.*]] = rt.view %[[ALL]] {offset = 0 : i64} : tensor<2x10xf32> -> tensor<2x4xf32>
// CHECK-NEXT: rt.copy %[[PC]]
// CHECK: rt.launch @f(
// CHECK: %[[QC:.*]] = rt.view %[[ALL]] {offset = 4 : i64} : tensor<2x10xf32> -> tensor<2x6xf32>
// CHECK-NEXT: %[[QW:.*]] = rt.copy %[[QC]]
// CHECK-NEXT: rt.view %[[QW]] {offset = 0 : i64} : tensor<2x6xf32> -> tensor<4x3xf32>
// CHECK: rt.all_gather %{{.*}} along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
module {
  func.func private @f(tensor<8xf32>) -> tensor<4xf32>
  func.func private @round(tensor<2x3xf32>) -> tensor<2x3xf32>
  func.func private @g(tensor<4x3xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.func @step(%p: tensor<4xf32> {nn.param = "p"}, %q: tensor<2x3xf32> {nn.param = "q"},
                  %r: tensor<4096xf32> {nn.param = "r"}) -> (tensor<8xf32>, tensor<8192xf32>) {
    %r1 = rt.all_gather %r along 0 over ["dp"] : tensor<4096xf32> -> tensor<8192xf32>
    %p1 = rt.all_gather %p along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    %x = rt.launch @f(%p1) {count = 4 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<4xf32>
    %q0 = rt.launch @round(%q) {count = 2 : i64, grain = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %q1 = rt.all_gather %q0 along 0 over ["dp"] : tensor<2x3xf32> -> tensor<4x3xf32>
    %y = rt.launch @g(%q1, %x) {count = 4 : i64, grain = 1 : i64} : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = rt.all_gather %y along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    return %z, %r1 : tensor<8xf32>, tensor<8192xf32>
  }
}

// -----

// A bucket that is full before another one that began earlier does not delay that one.
// TWO-LABEL: func.func @step
// TWO: %[[X:.*]] = rt.all_gather %{{.*}} along 0 over ["dp"] : tensor<1x8xf32> -> tensor<2x8xf32>
// TWO: rt.view %[[X]] {offset = 0 : i64}
// TWO: rt.all_gather %{{.*}} along 0 over ["dp"] : tensor<1x32xbf16> -> tensor<2x32xbf16>
// TWO: rt.view %[[X]] {offset = 4 : i64}
module {
  func.func @step(%x: tensor<4xf32>, %u: tensor<4xf32>, %y: tensor<16xbf16>, %v: tensor<16xbf16>, %w: tensor<16xbf16>,
                  %r: tensor<1024xf32>)
      -> (tensor<8xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>, tensor<8xf32>, tensor<2048xf32>) {
    %r1 = rt.all_gather %r along 0 over ["dp"] : tensor<1024xf32> -> tensor<2048xf32>
    %x1 = rt.all_gather %x along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    %y1 = rt.all_gather %y along 0 over ["dp"] : tensor<16xbf16> -> tensor<32xbf16>
    %y2 = rt.all_gather %v along 0 over ["dp"] : tensor<16xbf16> -> tensor<32xbf16>
    %y3 = rt.all_gather %w along 0 over ["dp"] : tensor<16xbf16> -> tensor<32xbf16>
    %x2 = rt.all_gather %u along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    return %x1, %y1, %y2, %y3, %x2, %r1
        : tensor<8xf32>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>, tensor<8xf32>, tensor<2048xf32>
  }
}
