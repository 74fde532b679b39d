// The tasks of one micro-batch run in the order in which they stand, so that its values need what they would without
// tasks: two places beside the argument. Of frames %a and %c would have one each and %b a third.
// RUN: tessera-opt %s --rt-insert-copies --rt-plan-memory --rt-check-memory | FileCheck %s
// CHECK: rt.arena = 192
// CHECK-NOT: rt.frames

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) -> !x attributes {rt.order = array<i64: 0, 0, 1, 0, 2, 0>} {
    rt.task 0 "F0"
    %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "F1"
    %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    %c = rt.launch @f(%b) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 2 "B1"
    %d = rt.launch @f(%c) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.tasks_end
    return %d : !x
  }
}
