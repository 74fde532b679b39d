// A program per owner: what others own is sent to them and comes back; sums of gradients are
// neighbours first: of three ranks (0 + 1) + 2.
// RUN: tessera-opt %s --dist-distribute=mesh=dp=3,tp=2 --nn-differentiate --nn-micro-batch --dist-assign-owners \
// RUN:   --nn-add-optimizer -o %t.mlir
// RUN: tessera-opt %t.mlir --dist-split-owners -o %t.owners
// RUN: FileCheck %s < %t.owners
// RUN: not tessera-opt %t.owners --dist-split-owners 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: tessera-opt %s --dist-distribute=mesh=tp=2 --nn-differentiate --nn-micro-batch --nn-add-optimizer -o %t.alone
// RUN: not tessera-opt %t.alone --dist-split-owners 2>&1 | FileCheck %s --check-prefix=ALONE

// TWICE: error: has no function @step
// ALONE: error: has no mesh axis 'dp' of several ranks to own parameters

// Rank 0 owns `a`: its moments alone, one square of the norm.
// CHECK: rt.pipeline = "{\22axis\22:\22dp\22,\22owners\22:true}"
// CHECK-LABEL: func.func @step_0
// CHECK-NOT: nn.of = "b"
// CHECK-SAME: tensor<7x16xf32, #dist<tp: S(1)>> {nn.of = "a", nn.role = "moment1"}
// CHECK-NOT: nn.of = "b"
// CHECK-SAME: rt.stage = 0 : i64, rt.stage_axis = "dp"
// CHECK: rt.send %{{.*}} to 1 on "dp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient for its owner", rt.message = "gradient 0"}
// CHECK-SAME: : tensor<16x5xf32, #dist<dp: P, tp: S(0)>>
// CHECK: %[[OWN:.*]] = rt.view %{{.*}} {nn.phase = #nn.phase<backward>, offset = 0 : i64}
// CHECK-SAME: : tensor<7x16xf32, #dist<dp: P, tp: S(1)>> -> tensor<7x16xf32, #dist<tp: S(1)>>
// CHECK: %[[ONE:.*]] = rt.receive from 1 on "dp"
// CHECK-SAME: {nn.phase = #nn.phase<backward>, reason = "gradient for its owner", rt.message = "gradient 1"}
// CHECK: %[[TWO:.*]] = nn.add "ab,ab->ab" %[[OWN]], %[[ONE]]
// CHECK: %[[LAST:.*]] = rt.receive from 2 on "dp"
// CHECK: nn.add "ab,ab->ab" %[[TWO]], %[[LAST]]
// CHECK: nn.add "->" %{{.*}} {nn.phase = #nn.phase<optimizer>} : (tensor<f32, #dist<dp: P, tp: P>>)
// CHECK: nn.adamw
// CHECK: rt.broadcast %{{.*}} : tensor<7x16xf32, #dist<tp: S(1)>> from 0 over ["dp"]
// CHECK-NOT: nn.adamw
// CHECK: rt.broadcast from 1 over ["dp"] {{.*}} -> tensor<16x5xf32, #dist<tp: S(0)>>

// CHECK-LABEL: func.func @step_1
// CHECK: rt.receive from 0 on "dp" {{.*}}rt.message = "gradient 0"
// CHECK: rt.receive from 2 on "dp" {{.*}}rt.message = "gradient 0"
// CHECK: rt.send %{{.*}} to 0 on "dp" {{.*}}rt.message = "gradient 1"

// Rank 2 owns nothing: it adds zero.
// CHECK-LABEL: func.func @step_2
// CHECK-NOT: nn.role = "moment1"
// CHECK: %[[ZERO:.*]] = rt.zero
// CHECK: nn.add "->" %[[ZERO]]
// CHECK-NOT: nn.adamw
func.func @loss(%x: tensor<6x7xf32> {nn.data = "x", nn.dims = "bh"},
    %a: tensor<7x16xf32> {nn.param = "a", nn.dims = "hf"},
                %b: tensor<16x5xf32> {nn.param = "b", nn.dims = "fh"}) -> tensor<f32> {
  %h = nn.einsum "bh,hf->bf" %x, %a : (tensor<6x7xf32>, tensor<7x16xf32>) -> tensor<6x16xf32>
  %g = nn.map gelu %h : tensor<6x16xf32> -> tensor<6x16xf32>
  %z = nn.einsum "bf,fh->bh" %g, %b : (tensor<6x16xf32>, tensor<16x5xf32>) -> tensor<6x5xf32>
  %loss = nn.einsum "bh->" %z : (tensor<6x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
