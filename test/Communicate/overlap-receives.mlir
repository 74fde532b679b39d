// A stage that only receives, as the last one of an evaluation does, starts a receive when the task that reads the
// receive before it is next. It never holds more than two tensors, whatever the number of micro-batches.
// RUN: tessera-opt %s --rt-overlap-messages | FileCheck %s
// RUN: tessera-opt %s --rt-overlap-messages --rt-check-messages -o /dev/null

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func private @f(!x) -> !x
  func.func @step_0(%x: !x) attributes {rt.stage = 0 : i64,
      rt.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2, 0, 3, 1, 3>} {
    rt.loop 3 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "message 0"
      rt.send %a to 1 on "pp" : !x
      rt.yield
    }
    rt.task 0 "F0"
    %c = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "message 0"
    rt.send %c to 1 on "pp" : !x
    rt.tasks_end
    return
  }
  // CHECK-LABEL: func.func @step_1
  // CHECK-SAME: rt.order = array<i64: 0, 0, 0, 1, 1, 0, 0, 2, 1, 1, 0, 3, 1, 2, 1, 3>
  func.func @step_1() attributes {rt.stage = 1 : i64,
      rt.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2, 0, 3, 1, 3>} {
    rt.loop 3 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "message 0"
      %a = rt.receive from 0 on "pp" : !x
      rt.task 1 "F1"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    rt.task 0 "message 0"
    %c = rt.receive from 0 on "pp" : !x
    rt.task 1 "F1"
    %d = rt.launch @f(%c) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.tasks_end
    return
  }
}
