// Shards move together: one call of several tensors, each in its own buffers.
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=1 bucket-bytes=1024" --split-input-file | FileCheck %s
// RUN: tessera-opt %s --rt-bucket-shards="bucket-bytes=0 large-bytes=0" --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=2" --split-input-file | FileCheck %s --check-prefix=TWO
// RUN: not tessera-opt %s --rt-bucket-shards="least-buckets=0" --split-input-file 2>&1 | FileCheck %s --check-prefix=LEAST
// Two buckets of two tensors would have a member each; the sums of the first program have a third beside them.
// TWO: rt.reduce_scatter_coalesced
// TWO-NOT: coalesced
// LEAST: error: cannot have 0 buckets of 26214400 bytes; use at least 1, of at least 0 bytes
// RUN: not tessera-opt %s --rt-bucket-shards="large-share=0" --split-input-file 2>&1 | FileCheck %s --check-prefix=SHARE
// SHARE: error: cannot have large buckets of a 0th of all; use at least 1
// A bucket of a 16th of all may be larger than others.
// RUN: tessera-opt %s --rt-bucket-shards="bucket-bytes=0 large-share=16" --split-input-file | FileCheck %s --check-prefix=LARGE
// The memory plan and its check know the calls, and so does the overlap.
// RUN: tessera-opt %s --rt-bucket-shards="least-buckets=1 bucket-bytes=1024" --rt-overlap-collectives --tessera-memory \
// RUN:   --split-input-file | FileCheck %s --check-prefix=PLAN

// NONE: rt.reduce_scatter %{{.*}} along 0 over ["dp"] {{.*}}: tensor<16xf32>
// NONE-NOT: coalesced

// CHECK-LABEL: func.func @step
// LARGE-LABEL: func.func @step
// PLAN-LABEL: func.func @step
!p = tensor<8xf32>
module {
  func.func private @f(tensor<16xf32>) -> tensor<16xf32>
  func.func private @sum(tensor<8xf32>, tensor<4x4xf32>) -> tensor<8xf32>
  func.func @step() -> (tensor<8xf32>, tensor<2x3xbf16>, tensor<8192xf32>) {
    // CHECK: %[[A:.*]] = rt.zero : tensor<16xf32>
    // CHECK-NEXT: %[[B:.*]] = rt.zero : tensor<8x4xf32>
    %a = rt.zero : tensor<16xf32>
    %a1 = rt.reduce_scatter %a along 0 over ["dp"] {reason = "gradient", rt.role = [{nn.param = "a"}]}
        : tensor<16xf32> -> tensor<8xf32>
    %b = rt.zero : tensor<8x4xf32>
    %b1 = rt.reduce_scatter %b along 0 over ["dp"] {rt.keep = [{name = "b"}]} : tensor<8x4xf32> -> tensor<4x4xf32>
    // A tensor of a bucket's size is alone; it does not end a bucket.
    // CHECK: rt.reduce_scatter %{{.*}} along 0 over ["dp"] : tensor<16384xf32>
    // LARGE: rt.reduce_scatter %{{.*}} along 0 over ["dp"] : tensor<16384xf32>
    // LARGE: rt.reduce_scatter_coalesced
    %d = rt.zero : tensor<16384xf32>
    %d1 = rt.reduce_scatter %d along 0 over ["dp"] : tensor<16384xf32> -> tensor<8192xf32>
    // Chunks of another dimension and elements of another type are members, too.
    // CHECK-NEXT: %[[C:.*]] = rt.zero : tensor<2x6xbf16>
    // CHECK-NEXT: %[[SUM:.*]]:3 = rt.reduce_scatter_coalesced %[[A]], %[[B]], %[[C]] along [0, 0, 1] over ["dp"]
    // CHECK-SAME: {reason = "gradient", rt.keep = [{}, {name = "b"}, {}], rt.role = [{nn.param = "a"}, {}, {}]}
    // CHECK-SAME: : tensor<16xf32>, tensor<8x4xf32>, tensor<2x6xbf16> -> tensor<8xf32>, tensor<4x4xf32>, tensor<2x3xbf16>
    // PLAN: %[[SUM:.*]]:3 = rt.reduce_scatter_coalesced {{.*}} over ["dp"] async
    // PLAN-SAME: rt.offsets = array<i64: [[#X:]], [[#Y:]], [[#Z:]]>
    // PLAN: %[[W:.*]]:3 = rt.wait %[[SUM]]#0, %[[SUM]]#1, %[[SUM]]#2 reading(
    // PLAN-SAME: rt.offsets = array<i64: [[#X]], [[#Y]], [[#Z]]>, rt.role = [{nn.param = "a"}, {}, {}]
    // PLAN: rt.launch @sum(%[[W]]#0, %[[W]]#1)
    %c = rt.zero : tensor<2x6xbf16>
    %c1 = rt.reduce_scatter %c along 1 over ["dp"] : tensor<2x6xbf16> -> tensor<2x3xbf16>
    %z = rt.zero : tensor<16xf32>
    %y = rt.launch @f(%z) {count = 16 : i64, grain = 1 : i64} : (tensor<16xf32>) -> tensor<16xf32>
    // CHECK: rt.launch @sum(%[[SUM]]#0, %[[SUM]]#1)
    %t = rt.launch @sum(%a1, %b1) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>, tensor<4x4xf32>) -> tensor<8xf32>
    return %t, %c1, %d1 : tensor<8xf32>, tensor<2x3xbf16>, tensor<8192xf32>
  }
}

// -----

// Parameters are gathered before the first one is used, with the kernels that round them; an activation is not.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[P:.*]]: tensor<4xf32> {{.*}}, %[[Q:.*]]: tensor<2x3xf32>
// CHECK: %[[Q1:.*]] = rt.launch @round(%[[Q]])
// CHECK-NEXT: %[[ALL:.*]]:2 = rt.all_gather_coalesced %[[P]], %[[Q1]] along [0, 0] over ["dp"]
// CHECK-SAME: : tensor<4xf32>, tensor<2x3xbf16> -> tensor<8xf32>, tensor<4x3xbf16>
// CHECK: rt.launch @f(%[[ALL]]#0)
// CHECK: rt.launch @g(%[[ALL]]#1
// CHECK: rt.all_gather %{{.*}} along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
module {
  func.func private @f(tensor<8xf32>) -> tensor<4xf32>
  func.func private @round(tensor<2x3xf32>) -> tensor<2x3xbf16>
  func.func private @g(tensor<4x3xbf16>, tensor<4xf32>) -> tensor<4xf32>
  func.func @step(%p: tensor<4xf32> {nn.param = "p"}, %q: tensor<2x3xf32> {nn.param = "q"}) -> tensor<8xf32> {
    %p1 = rt.all_gather %p along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    %x = rt.launch @f(%p1) {count = 4 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<4xf32>
    %q0 = rt.launch @round(%q) {count = 2 : i64, grain = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %q1 = rt.all_gather %q0 along 0 over ["dp"] : tensor<2x3xbf16> -> tensor<4x3xbf16>
    %y = rt.launch @g(%q1, %x) {count = 4 : i64, grain = 1 : i64} : (tensor<4x3xbf16>, tensor<4xf32>) -> tensor<4xf32>
    %z = rt.all_gather %y along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    return %z : tensor<8xf32>
  }
}

// -----

// Stage 3 of ZeRO gathers in forward and again in backward: the buckets of both are apart.
// CHECK-LABEL: func.func @step
// CHECK: rt.all_gather_coalesced {{.*}} : tensor<4xf32>, tensor<4xf32> ->
// CHECK: rt.all_gather_coalesced {{.*}} {nn.phase = #nn.phase<backward>} : tensor<4xf32>, tensor<4xf32> ->
module {
  func.func private @f(tensor<8xf32>, tensor<8xf32>) -> tensor<4xf32>
  func.func private @g(tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.func @step(%p: tensor<4xf32> {nn.param = "p"}, %q: tensor<4xf32> {nn.param = "q"}) -> tensor<4xf32> {
    %p1 = rt.all_gather %p along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    %q1 = rt.all_gather %q along 0 over ["dp"] : tensor<4xf32> -> tensor<8xf32>
    %x = rt.launch @f(%p1, %q1) {count = 4 : i64, grain = 1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<4xf32>
    %q2 = rt.all_gather %q along 0 over ["dp"] {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<8xf32>
    %p2 = rt.all_gather %p along 0 over ["dp"] {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<8xf32>
    %y = rt.launch @g(%p2, %q2, %x) {count = 4 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
