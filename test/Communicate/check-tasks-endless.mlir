// A loop that is far longer than its order is refused at once.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --rt-check-messages

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1>} {
    rt.loop 2147483647 init() : () -> () {
    ^bb0(%j: i64):
      // expected-error @+1 {{runs 2 times for 2147483647 micro-batches}}
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

// Without messages nothing is repeated; an order is another pass' concern.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) {
    rt.loop 2147483647 init() : () -> () {
    ^bb0(%j: i64):
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @step_0(%x: !x) attributes {rt.stage = 0 : i64} {
    // expected-error @+1 {{communicates in each of 2147483647 rounds; there may be at most 16777216}}
    rt.loop 2147483647 init() : () -> () {
    ^bb0(%j: i64):
      rt.send %x to 1 on "pp" : !x
      rt.yield
    }
    return
  }
  func.func @step_1(%x: !x) attributes {rt.stage = 1 : i64} {
    %y = rt.receive from 0 on "pp" : !x
    return
  }
}
