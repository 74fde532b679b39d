// The order of a step runs every task once for every micro-batch, those of a micro-batch in the order in which they
// stand; what a loop carries is one task's.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --rt-check-messages

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1, 1, 0>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      // expected-error @+1 {{runs 1 times for 2 micro-batches}}
      rt.task 1 "B0"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 1, 0, 0>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      // expected-error @+1 {{runs for micro-batch 1 when it is the turn of 0}}
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 1, 0, 1, 1, 0, 1>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      // expected-error @+1 {{runs after a later task of micro-batch 1}}
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "B0"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  // expected-error @+1 {{runs task 1 for micro-batch 0, which is not there}}
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 1, 0>} {
    rt.task 0 "F0"
    %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.tasks_end
    return
  }
}

// -----

// Between the two tasks others add to the sum.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>} {
    %zero = rt.zero : !x
    %sum = rt.loop 2 init(%zero) : (!x) -> !x {
    ^bb0(%j: i64, %old: !x):
      rt.task 0 "B1"
      // expected-error @+1 {{reads a sum over micro-batches that another task adds to}}
      %a = rt.launch @f(%old) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "B0"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield %b : !x
    }
    return
  }
}

// -----

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      // expected-error @+1 {{stands among tasks, but in none}}
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 0 "F0"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

// A sum that a task has added to is not for later tasks either, also not through a view.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1, 1, 0, 1, 1, 0, 2, 1, 2>} {
    %zero = rt.zero : !x
    %sum = rt.loop 2 init(%zero) : (!x) -> !x {
    ^bb0(%j: i64, %old: !x):
      rt.task 0 "B1"
      %a = rt.launch @f(%old) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "B0"
      %part = rt.view %a {offset = 0 : i64} : !x -> tensor<8xf32>
      // expected-error @+1 {{reads a sum over micro-batches that another task adds to}}
      %b = rt.copy %part : tensor<8xf32> -> tensor<8xf32>
      rt.yield %a : !x
    }
    rt.task 0 "B1"
    %c = rt.launch @f(%sum) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "B0"
    rt.tasks_end
    return
  }
}

// -----

// The last micro-batch adds when all others have.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 2, 0, 1, 1, 0, 1, 1, 1, 2>} {
    %zero = rt.zero : !x
    %sum = rt.loop 2 init(%zero) : (!x) -> !x {
    ^bb0(%j: i64, %old: !x):
      rt.task 0 "B1"
      %a = rt.launch @f(%old) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "B0"
      rt.yield %a : !x
    }
    rt.task 0 "B1"
    // expected-error @+1 {{reads a sum over micro-batches to which some are added later}}
    %c = rt.launch @f(%sum) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "B0"
    rt.tasks_end
    return
  }
}

// -----

// The last micro-batch has the same tasks.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      // expected-error @+1 {{is not among the tasks of the last micro-batch, which follow the loop}}
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    return
  }
}

// -----

// A loop between tasks would not run.
!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func @step(%x: !x) attributes {rt.order = array<i64: 0, 0, 0, 1, 0, 2>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    // expected-error @+1 {{stands among tasks, but in none}}
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.yield
    }
    rt.task 0 "F0"
    rt.tasks_end
    return
  }
}
