// A total over the batch is one stage's: it stays a loop there, before that stage's tasks, and
// reads no data but its own.
// RUN: tessera-opt %s -split-input-file --dist-assign-stages=stages=2 --dist-distribute=mesh=pp=2,dp=2 \
// RUN:   --nn-differentiate --nn-micro-batch=count=2 --nn-add-optimizer=clip=0 \
// RUN:   --dist-split-stages -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @step_0
// CHECK-NOT: "labels"
// CHECK: nn.micro_batches 2
// CHECK-NOT: nn.micro_batches
// CHECK-LABEL: func.func @step_1
// CHECK-SAME: %[[LABELS:[a-z0-9]*]]: tensor<2x4xi32, #dist<dp: S(1)>> {nn.data = "labels"
// CHECK: %[[PART:.*]] = nn.micro_batches 2 of(%[[LABELS]])
// CHECK-NEXT: ^{{.*}}(%{{.*}}: tensor<4xi32, #dist<dp: S(0)>>):
// CHECK-NEXT: nn.counted
// CHECK-NEXT: nn.einsum "b->"
// CHECK-NEXT: nn.yield
// CHECK: %[[ALL:.*]] = dist.convert all_reduce %[[PART]] on "dp"
// CHECK: nn.map reciprocal %[[ALL]]
// CHECK: nn.micro_batches 2 of(%[[LABELS]])
// CHECK: rt.receive from 0 on "pp"
func.func @loss(%x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"},
    %labels: tensor<4xi32> {nn.data = "labels", nn.dims = "b"},
                %a: tensor<8x8xf32> {nn.param = "a", nn.dims = "hk"},
                %b: tensor<8x8xf32> {nn.param = "b", nn.dims = "hk"}) -> tensor<f32> {
  %0 = nn.einsum "bh,hk->bk" %x, %a {nn.tag = #nn.tag<stream>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.einsum "bh,hk->bk" %0, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = nn.counted %labels as f32 : tensor<4xi32> -> tensor<4xf32>
  %3 = nn.einsum "bh,b->" %1, %2 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<f32>
  %4 = nn.einsum "b->" %2 {nn.tag = #nn.tag<batch_total>} : (tensor<4xf32>) -> tensor<f32>
  %5 = nn.map reciprocal %4 : tensor<f32> -> tensor<f32>
  %6 = nn.einsum ",->" %3, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %6 : tensor<f32>
}

// -----

// expected-error @+1 {{'nn.micro_batches' op adds up totals at A(0) and A(1) on 'pp'; all must be at one stage}}
func.func @loss(%x: tensor<4x8xf32> {nn.data = "x", nn.dims = "bh"},
    %labels: tensor<4xi32> {nn.data = "labels", nn.dims = "b"},
                %a: tensor<8x8xf32> {nn.param = "a", nn.dims = "hk"},
                %b: tensor<8x8xf32> {nn.param = "b", nn.dims = "hk"}) -> tensor<f32> {
  %m = nn.counted %labels as f32 : tensor<4xi32> -> tensor<4xf32>
  %n = nn.einsum "b->" %m {nn.tag = #nn.tag<batch_total>} : (tensor<4xf32>) -> tensor<f32>
  %y = nn.einsum "bh,->bh" %x, %n : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %0 = nn.einsum "bh,hk->bk" %y, %a {nn.tag = #nn.tag<stream>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.einsum "bh,hk->bk" %0, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = nn.counted %labels as f32 : tensor<4xi32> -> tensor<4xf32>
  %3 = nn.einsum "b->" %2 {nn.tag = #nn.tag<batch_total>} : (tensor<4xf32>) -> tensor<f32>
  %4 = nn.einsum "bh,->" %1, %3 : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}
