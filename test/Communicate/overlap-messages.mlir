// Messages run beside the program, in their order: received as soon as the last message has started, sent until
// the tensor is written over or the next one is sent.
// RUN: tessera-opt %s --split-input-file --rt-overlap-messages | FileCheck %s
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func private @f(!x) -> !x
  // CHECK-LABEL: func.func @step_0
  // CHECK-NEXT: %[[A:.*]] = rt.launch @f
  // CHECK-NEXT: %[[SENT:.*]] = rt.send %[[A]] to 1 on "pp" async {rt.message = "a"} : tensor<16xf32> -> tensor<1xi8>
  // CHECK-NEXT: %[[GOT:.*]] = rt.receive from 1 on "pp" async {nn.phase = #nn.phase<backward>}
  // CHECK-NEXT: %[[B:.*]] = rt.launch @f
  // The memory of what is sent is free for the next one.
  // CHECK-NEXT: rt.wait %[[SENT]] reading(%[[A]] : tensor<16xf32>)
  // CHECK-NEXT: %[[SENT2:.*]] = rt.send %[[B]] to 1 on "pp" async
  // CHECK-NEXT: %[[C:.*]] = rt.wait %[[GOT]] {nn.phase = #nn.phase<backward>}
  // CHECK-NEXT: rt.launch @f(%[[C]])
  // CHECK-NEXT: rt.wait %[[SENT2]]
  // CHECK-NEXT: return
  func.func @step_0(%x: !x) -> !x attributes {rt.stage = 0 : i64} {
    %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.send %a to 1 on "pp" {rt.message = "a"} : !x
    %b = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    %c = rt.receive from 1 on "pp" {nn.phase = #nn.phase<backward>} : !x
    rt.send %b to 1 on "pp" : !x
    %d = rt.launch @f(%c) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    return %d : !x
  }
  // A tensor on its way may be read meanwhile, but not be written over. A receive does not pass a meeting with the
  // other stage, for which that would be another order; nothing waits for a tensor that nobody reads.
  // CHECK-LABEL: func.func @step_1
  // CHECK-NEXT: %[[A:.*]] = rt.receive from 0 on "pp" async
  // CHECK-NEXT: %[[GOT:.*]] = rt.wait %[[A]]
  // CHECK-NEXT: %[[B:.*]] = rt.launch @f(%[[GOT]])
  // CHECK-NEXT: %[[SENT:.*]] = rt.send %[[B]] to 0 on "pp" async
  // CHECK-NEXT: rt.launch @f(%[[B]])
  // CHECK-NEXT: rt.wait %[[SENT]] reading(%[[B]] : tensor<16xf32>)
  // CHECK-NEXT: %[[SUM:.*]] = rt.all_reduce %[[B]] over ["pp"]
  // CHECK-NEXT: %[[D:.*]] = rt.receive from 0 on "pp" async
  // CHECK-NEXT: rt.wait %[[D]]
  // CHECK-NEXT: return
  func.func @step_1() -> (!x, !x) attributes {rt.stage = 1 : i64} {
    %a = rt.receive from 0 on "pp" : !x
    %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.send %b to 0 on "pp" : !x
    %c = rt.launch @f(%b) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    %sum = rt.all_reduce %b over ["pp"] {maximum = false} : !x -> !x
    %d = rt.receive from 0 on "pp" : !x
    return %sum, %c : !x, !x
  }
}
