// One program per stage: what it holds, its messages in the order of the schedule, sums over stages outside.
// RUN: tessera-opt %s --dist-assign-stages=stages=2 --dist-distribute=mesh=pp=2 --nn-differentiate \
// RUN:   --nn-micro-batch=count=2 --nn-add-optimizer=clip=0 -o %t.mlir
// RUN: tessera-opt %t.mlir --dist-split-stages=schedule=gpipe -o %t.gpipe
// RUN: FileCheck %s < %t.gpipe
// RUN: tessera-opt %t.mlir --dist-split-stages=schedule=1f1b | FileCheck %s --check-prefix=ALTERNATE
// RUN: tessera-opt %t.mlir --dist-split-stages=schedule=zero-bubble | FileCheck %s --check-prefix=ZERO
// RUN: not tessera-opt %t.mlir --dist-split-stages=schedule=2f2b 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: schedule '2f2b' is unknown; use gpipe, 1f1b, interleaved or zero-bubble

// `a` lives at stage 0, `b` at stage 1; the table `t`, which both read, at the first, which sends it once a step and
// gets the sum of the gradients; the data where it is read. The tasks of one micro-batch stand in the loop.
// CHECK: rt.pipeline = "{\22axis\22:\22pp\22
// CHECK-LABEL: func.func @step_0
// CHECK-SAME: {nn.dims = "hk", nn.param = "t"}
// CHECK-SAME: {nn.dims = "hk", nn.param = "a"}
// CHECK-NOT: nn.param = "b"
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4x8xf32> {nn.data = "x"
// Pairs of a task and a micro-batch: F0 and what it sends twice, then the gradient and B0 twice.
// CHECK-SAME: rt.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 2, 0, 3, 0, 2, 1, 3, 1>
// CHECK: rt.send %{{.*}} to 1 on "pp" {reason = "parameter of another stage"} : tensor<8x8xf32>
// CHECK: %[[SUMS:.*]]:2 = nn.micro_batches 2 of(%[[X]])
// CHECK: rt.task 0 "F0"
// CHECK: nn.einsum
// CHECK: rt.task 1 "message 0"
// CHECK-NEXT: rt.send %{{.*}} to 1 on "pp" {reason = "activation for a later stage", rt.message = "value 0"}
// CHECK-NEXT: rt.task 2 "message 1"
// CHECK-NEXT: rt.receive from 1 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient for an earlier stage", rt.message = "value 1"}
// CHECK-NEXT: rt.task 3 "B0"
// CHECK: nn.yield
// CHECK: rt.broadcast from 1 over ["pp"]
// CHECK: %[[OTHERS:.*]] = rt.receive from 1 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient of a parameter of another stage"}
// CHECK-NEXT: nn.add "ab,ab->ab" %[[OTHERS]], %[[SUMS]]#0
// CHECK: rt.all_reduce %{{.*}} over ["pp"] {{{.*}}reason = "sum of scalars of the stages"}
// CHECK-LABEL: func.func @step_1
// CHECK-NOT: nn.param = "a"
// CHECK-NOT: nn.param = "t"
// CHECK-SAME: nn.param = "b"
// CHECK-NOT: nn.data
// CHECK: rt.receive from 0 on "pp" {reason = "parameter of another stage"} : tensor<8x8xf32>
// CHECK: nn.micro_batches 2 of()
// CHECK: rt.task 0 "message 0"
// CHECK-NEXT: rt.receive from 0 on "pp"
// CHECK-NEXT: rt.task 1 "F1"
// CHECK: rt.task 2 "B1"
// CHECK: rt.task 3 "message 1"
// CHECK-NEXT: rt.send %{{.*}} to 0 on "pp" {nn.phase = #nn.phase<backward>
// CHECK-NEXT: nn.yield
// CHECK: rt.broadcast %{{.*}} : tensor<f32> from 1 over ["pp"]
// CHECK: rt.send %{{.*}} to 0 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient of a parameter of another stage"}
// CHECK: rt.all_reduce %{{.*}} over ["pp"]

// The last stage alternates.
// ALTERNATE-LABEL: func.func @step_1
// ALTERNATE-SAME: rt.order = array<i64: 0, 0, 1, 0, 0, 1, 2, 0, 3, 0, 1, 1, 2, 1, 3, 1>

// The last stage makes the gradients of its parameters one micro-batch late, after what it sends.
// ZERO-LABEL: func.func @step_1
// ZERO-SAME: rt.order = array<i64: 0, 0, 1, 0, 0, 1, 2, 0, 3, 0, 1, 1, 2, 1, 3, 1, 4, 0, 4, 1>
// ZERO: rt.task 3 "message 1"
// ZERO-NEXT: rt.send %{{.*}} to 0
// ZERO-NEXT: rt.task 4 "W1"
// ZERO-NEXT: nn.einsum "bk,bh->hk"
func.func @loss(%t: tensor<8x8xf32> {nn.param = "t", nn.dims = "hk"},
    %a: tensor<8x8xf32> {nn.param = "a", nn.dims = "hk"},
                %b: tensor<8x8xf32> {nn.param = "b", nn.dims = "hk"},
                %x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"}) -> tensor<f32> {
  %0 = nn.einsum "bh,hk->bk" %x, %t : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.einsum "bh,hk->bk" %0, %a {nn.tag = #nn.tag<stream>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = nn.einsum "bh,hk->bk" %1, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = nn.einsum "bh,hk->bk" %2, %t {nn.tag = #nn.tag<stream>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %4 = nn.map gelu %3 : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = nn.einsum "bh->" %4 : (tensor<4x8xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}
