// The result of a started collective is for rt.wait alone.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is pending, but 'rt.copy' reads its result; only rt.wait may}}
  %y = rt.all_reduce %x over ["dp"] async {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  %z = rt.copy %y : tensor<8xf32> -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @below {{is started, but never waited for; give it one rt.wait}}
  %y = rt.all_reduce %x over ["dp"] async {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @below {{is started, but more than once waited for; give it one rt.wait}}
  %y = rt.all_reduce %x over ["dp"] async {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  %a = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
  %b = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  %y = rt.all_reduce %x over ["dp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  // expected-error @below {{waits for a value that is not pending; only an asynchronous call makes such a value}}
  %a = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  %y = rt.all_reduce %x over ["dp"] async {maximum = false} : tensor<8xf32> -> tensor<8xf32>
  rt.loop 2 init() : () -> () {
  ^bb0(%i: i64):
    // expected-error @below {{waits in another block than the one in which the call is started}}
    %a = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
    rt.yield
  }
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @below {{is asynchronous, but makes no token to wait for; give it a tensor<1xi8>}}
  rt.send %x to 1 on "pp" async : tensor<8xf32>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @below {{makes a token, but is not asynchronous}}
  %y = rt.send %x to 1 on "pp" : tensor<8xf32> -> tensor<1xi8>
  return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // expected-error @below {{must be a token, tensor<1xi8>, but got 'tensor<8xf32>'}}
  %y = rt.send %x to 1 on "pp" async : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @step() -> tensor<8xf32> {
  // expected-error @below {{is pending, but 'func.return' reads its result; only rt.wait may}}
  %x = rt.receive from 0 on "pp" async : tensor<8xf32>
  return %x : tensor<8xf32>
}

// -----

func.func @step(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<8xf32> {
  %p:2 = rt.all_gather_coalesced %x, %y along [0, 0] over ["tp"] async : tensor<4xf32>, tensor<2xf32> -> tensor<8xf32>, tensor<4xf32>
  // expected-error @below {{waits for 1 of 2 results; it must return all, as they are}}
  %a = rt.wait %p#0 : tensor<8xf32> -> tensor<8xf32>
  %b = rt.wait %p#1 : tensor<4xf32> -> tensor<4xf32>
  return %a : tensor<8xf32>
}

// -----

func.func @step() {
  // expected-error @below {{waits for a value that is not pending; only an asynchronous call makes such a value}}
  "rt.wait"() {operandSegmentSizes = array<i32: 0, 0>} : () -> ()
  return
}
