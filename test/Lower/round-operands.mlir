// A parameter is rounded once for all its products, outside of the loop; an activation where it is made.
// RUN: tessera-opt %s --rt-round-operands | FileCheck %s

// CHECK-LABEL: @step
// CHECK: %[[ZERO:.*]] = rt.zero
// CHECK: %[[W:.*]] = nn.cast %arg1 to bf16
// CHECK: rt.loop 2
func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = rt.zero : tensor<4x8xf32>
  %sum = rt.loop 2 init(%zero) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%i: i64, %acc: tensor<4x8xf32>):
    // CHECK: %[[A:.*]] = nn.map gelu
    // CHECK-NEXT: %[[ROUNDED:.*]] = nn.cast %[[A]] to bf16
    %a = nn.map gelu %x : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK: nn.einsum "sh,hf->sf" %[[ROUNDED]], %[[W]] {element_type = f32}
    %y = nn.einsum "sh,hf->sf" %a, %w {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<8x8xf32>)
        -> tensor<4x8xf32>
    // CHECK: nn.einsum "sf,hf->sh" %[[ROUNDED]], %[[W]] {element_type = f32}
    %z = nn.einsum "sf,hf->sh" %a, %w {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<8x8xf32>)
        -> tensor<4x8xf32>
    %t = nn.add "sf,sf,sf->sf" %acc, %y, %z : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    rt.yield %t : tensor<4x8xf32>
  }
  // CHECK-NOT: nn.cast
  return %sum : tensor<4x8xf32>
}

// An activation is rounded once, where it is made, for both of its gathers; a parameter before each gather.
// CHECK-LABEL: @step_of_gathers
// CHECK: %[[A:.*]] = nn.map gelu
// CHECK-NEXT: %[[SHARD:.*]] = nn.cast %[[A]] to bf16
// CHECK: %[[W:.*]] = nn.cast %arg1 to bf16
// CHECK-NEXT: rt.all_gather %[[W]]
// CHECK: %[[FIRST:.*]] = rt.all_gather %[[SHARD]] along 0 over ["tp"]
// CHECK: %[[V:.*]] = nn.cast %arg1 to bf16
// CHECK-NEXT: rt.all_gather %[[V]]
// CHECK: %[[AGAIN:.*]] = rt.all_gather %[[SHARD]] along 0 over ["tp"] {nn.phase = #nn.phase<recompute>}
// CHECK-NOT: nn.cast
func.func @step_of_gathers(%x: tensor<2x8xf32>, %p: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = nn.map gelu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  %w = rt.all_gather %p along 0 over ["dp"] : tensor<4x8xf32> -> tensor<8x8xf32>
  %g = rt.all_gather %a along 0 over ["tp"] : tensor<2x8xf32> -> tensor<4x8xf32>
  %y = nn.einsum "sh,hf->sf" %g, %w {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<8x8xf32>)
      -> tensor<4x8xf32>
  %v = rt.all_gather %p along 0 over ["dp"] : tensor<4x8xf32> -> tensor<8x8xf32>
  %h = rt.all_gather %a along 0 over ["tp"] {nn.phase = #nn.phase<recompute>} : tensor<2x8xf32> -> tensor<4x8xf32>
  %z = nn.einsum "sh,hf->sf" %h, %v {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<8x8xf32>)
      -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// A parameter that two axes split is rounded before the first of its gathers.
// CHECK-LABEL: @step_of_axes
// CHECK: %[[W:.*]] = nn.cast %arg1 to bf16
// CHECK-NEXT: %[[INNER:.*]] = rt.all_gather %[[W]] along 0 over ["cp"] : tensor<2x8xbf16> -> tensor<4x8xbf16>
// CHECK-NEXT: rt.all_gather %[[INNER]] along 1 over ["dp"] : tensor<4x8xbf16> -> tensor<4x16xbf16>
// CHECK-NOT: nn.cast %arg1
func.func @step_of_axes(%x: tensor<2x4xf32>, %p: tensor<2x8xf32>) -> tensor<2x16xf32> {
  %c = rt.all_gather %p along 0 over ["cp"] : tensor<2x8xf32> -> tensor<4x8xf32>
  %w = rt.all_gather %c along 1 over ["dp"] : tensor<4x8xf32> -> tensor<4x16xf32>
  %y = nn.einsum "sh,hf->sf" %x, %w {compute = bf16, element_type = f32} : (tensor<2x4xf32>, tensor<4x16xf32>)
      -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// A value of another stage is rounded in the task that reads it: the task of a message waits for nothing.
// CHECK-LABEL: @step_of_messages
// CHECK: rt.task 0 "message 0"
// CHECK-NEXT: %[[G:.*]] = rt.receive from 1 on "pp"
// CHECK-NEXT: rt.task 1 "B0"
// CHECK: %[[ROUNDED:.*]] = nn.cast %[[G]] to bf16
// CHECK-NEXT: nn.einsum "sf,hf->sh" %[[ROUNDED]]
// CHECK-NOT: nn.cast %[[G]]
// CHECK: nn.einsum "sf,sh->fh" %[[ROUNDED]]
func.func @step_of_messages(%w: tensor<8x8xbf16>, %x: tensor<4x8xbf16>) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  rt.task 0 "message 0"
  %g = rt.receive from 1 on "pp" : tensor<4x8xf32>
  rt.task 1 "B0"
  %y = nn.einsum "sf,hf->sh" %g, %w {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<8x8xbf16>)
      -> tensor<4x8xf32>
  %z = nn.einsum "sf,sh->fh" %g, %x {compute = bf16, element_type = f32} : (tensor<4x8xf32>, tensor<4x8xbf16>)
      -> tensor<8x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<8x8xf32>
}

// Only rows are rounded of experts' operands: integers are exact, scales are multiplied in f32, gates say who is
// routed.
// CHECK-LABEL: @step_of_experts
// CHECK-SAME: %[[R:.*]]: tensor<4x1x8x16xf32>, %[[W:[^:]*]]: {{.*}}, %[[S:[^:]*]]: {{.*}}, %[[G:[^:]*]]:
// CHECK: %[[ROUNDED:.*]] = nn.cast %[[R]] to bf16
// CHECK-NEXT: nn.expert_linear %[[ROUNDED]], %[[W]], %[[S]] by %[[G]] {element_type = f32}
func.func @step_of_experts(%r: tensor<4x1x8x16xf32>, %w: tensor<4x32x16xi8>, %s: tensor<4x32xf32>,
                           %g: tensor<1x8x4xf32>) -> tensor<4x1x8x32xf32> {
  %h = nn.expert_linear %r, %w, %s by %g {compute = bf16, element_type = f32}
      : (tensor<4x1x8x16xf32>, tensor<4x32x16xi8>, tensor<4x32xf32>, tensor<1x8x4xf32>) -> tensor<4x1x8x32xf32>
  return %h : tensor<4x1x8x32xf32>
}
