// Messages that are tasks. A receive starts right after the message before it, but after the earlier tasks of its
// micro-batch; the wait of a send is a task, before the next send or, if that is earlier, before the next task of its
// micro-batch.
// RUN: tessera-opt %s --rt-overlap-messages | FileCheck %s
// RUN: tessera-opt %s --rt-overlap-messages --rt-check-messages -o /dev/null

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func private @f(!x) -> !x
  // The receive for the last micro-batch (2, 2) starts before task 3 of the one before it.
  // CHECK-LABEL: func.func @step_0
  // CHECK-SAME: rt.order = array<i64: 0, 0, 1, 0, 0, 1, 4, 0, 1, 1, 2, 0, 3, 0, 0, 2, 4, 1, 1, 2, 2, 1, 4, 2, 2, 2,
  // CHECK-SAME: 3, 1, 3, 2>
  // CHECK: rt.loop 2
  // CHECK: rt.task 1 "message 0"
  // CHECK-NEXT: %[[SENT:.*]] = rt.send %[[A:.*]] to 1 on "pp" async
  // CHECK-NEXT: rt.task 4 "sent"
  // CHECK-NEXT: rt.wait %[[SENT]] reading(%[[A]] : tensor<16xf32>)
  // CHECK-NEXT: rt.task 2 "message 1"
  // CHECK-NEXT: %[[PENDING:.*]] = rt.receive from 1 on "pp" async
  // CHECK-NEXT: rt.task 3 "B0"
  // CHECK-NEXT: %[[GOT:.*]] = rt.wait %[[PENDING]]
  // CHECK-NEXT: rt.launch @f(%[[GOT]])
  // CHECK: rt.task 4 "sent"
  // CHECK: rt.tasks_end
  func.func @step_0(%x: !x) attributes {rt.stage = 0 : i64,
      rt.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 2, 0, 3, 0, 0, 2, 1, 2, 2, 1, 3, 1, 2, 2, 3, 2>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "message 0"
      rt.send %a to 1 on "pp" : !x
      rt.task 2 "message 1"
      %g = rt.receive from 1 on "pp" : !x
      rt.task 3 "B0"
      %b = rt.launch @f(%g) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    rt.task 0 "F0"
    %c = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "message 0"
    rt.send %c to 1 on "pp" : !x
    rt.task 2 "message 1"
    %d = rt.receive from 1 on "pp" : !x
    rt.task 3 "B0"
    %e = rt.launch @f(%d) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.tasks_end
    return
  }
  // CHECK-LABEL: func.func @step_1
  func.func @step_1() attributes {rt.stage = 1 : i64,
      rt.order = array<i64: 0, 0, 0, 1, 1, 0, 2, 0, 0, 2, 1, 1, 2, 1, 1, 2, 2, 2>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "message 0"
      %a = rt.receive from 0 on "pp" : !x
      rt.task 1 "F1"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 2 "message 1"
      rt.send %b to 0 on "pp" : !x
      rt.yield
    }
    rt.task 0 "message 0"
    %c = rt.receive from 0 on "pp" : !x
    rt.task 1 "F1"
    %d = rt.launch @f(%c) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 2 "message 1"
    rt.send %d to 0 on "pp" : !x
    rt.tasks_end
    return
  }
}
