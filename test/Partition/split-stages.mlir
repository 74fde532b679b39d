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
// gets the sum of the gradients; the data where it is read.
// CHECK: rt.pipeline = "{\22axis\22:\22pp\22
// CHECK-LABEL: func.func @step_0
// CHECK-SAME: {nn.dims = "hk", nn.param = "t"}
// CHECK-SAME: {nn.dims = "hk", nn.param = "a"}
// CHECK-NOT: nn.param = "b"
// CHECK-SAME: nn.data = "x"
// CHECK: rt.send %{{.*}} to 1 on "pp" {reason = "parameter of another stage"} : tensor<8x8xf32>
// CHECK: rt.view %{{.*}} {offset = 0 : i64
// CHECK: rt.send %{{.*}} to 1 on "pp"
// CHECK-SAME: {reason = "activation for a later stage", rt.message = "value 0 of micro-batch 0"}
// CHECK: rt.view %{{.*}} {offset = 32 : i64
// CHECK: rt.send %{{.*}} to 1 on "pp"
// CHECK: rt.receive from 1 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient for an earlier stage", rt.message = "value
// CHECK-SAME: {{[0-9]+}} of micro-batch 0"}
// CHECK: rt.receive from 1 on "pp"
// CHECK: nn.add "ab,ab->ab" %{{.*}} {nn.phase = #nn.phase<backward>, rt.micro_batch = 1 : i64}
// CHECK: rt.broadcast from 1 over ["pp"]
// CHECK: %[[OTHERS:.*]] = rt.receive from 1 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient of a parameter of another stage"}
// CHECK-NEXT: nn.add "ab,ab->ab" %[[OTHERS]]
// CHECK: rt.all_reduce %{{.*}} over ["pp"] {{{.*}}reason = "sum of scalars of the stages"}
// CHECK-LABEL: func.func @step_1
// CHECK-NOT: nn.param = "a"
// CHECK-NOT: nn.param = "t"
// CHECK-SAME: nn.param = "b"
// CHECK-NOT: nn.data
// CHECK: rt.receive from 0 on "pp" {reason = "parameter of another stage"} : tensor<8x8xf32>
// CHECK: rt.receive from 0 on "pp"
// CHECK: rt.receive from 0 on "pp"
// CHECK: rt.send %{{.*}} to 0 on "pp" {nn.phase = #nn.phase<backward>
// CHECK: rt.send %{{.*}} to 0 on "pp" {nn.phase = #nn.phase<backward>
// CHECK: rt.broadcast %{{.*}} : tensor<f32> from 1 over ["pp"]
// CHECK: rt.send %{{.*}} to 0 on "pp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient of a parameter of another stage"}
// CHECK: rt.all_reduce %{{.*}} over ["pp"]

// ALTERNATE-LABEL: func.func @step_1
// ALTERNATE: nn.map gelu %{{.*}} {rt.micro_batch = 0
// ALTERNATE: rt.send %{{.*}} to 0
// ALTERNATE: nn.map gelu %{{.*}} {rt.micro_batch = 1
// ALTERNATE: rt.send %{{.*}} to 0

// The last stage makes the gradient of its parameter one micro-batch late, after what it sends.
// ZERO-LABEL: func.func @step_1
// ZERO: rt.send %{{.*}} to 0
// ZERO-NOT: nn.einsum "bk,bh->hk" {{.*}}rt.micro_batch = 0
// ZERO: rt.send %{{.*}} to 0
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
