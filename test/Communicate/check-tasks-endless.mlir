// A loop that is far longer than its order is refused at once.
// RUN: tessera-opt %s -verify-diagnostics --rt-check-messages

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
