// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_iteration() {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  rt.loop 0 init() : () -> () {
  ^bb0(%i: i64):
    rt.yield
  }
  return
}

// -----

func.func @no_iteration_number(%a: tensor<4xf32>) {
  // expected-error @+1 {{has no iteration number (i64) as first argument}}
  %l = rt.loop 2 init(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    rt.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @body_takes_something_else(%a: tensor<4xf32>) {
  // expected-error @+1 {{carries ('tensor<4xf32>') but its body has ('tensor<8xf32>')}}
  %l = rt.loop 2 init(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: i64, %x: tensor<8xf32>):
    rt.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @yields_something_else(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{carries ('tensor<4xf32>') but yields ('tensor<8xf32>')}}
  %l = rt.loop 2 init(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: i64, %x: tensor<4xf32>):
    rt.yield %b : tensor<8xf32>
  }
  return
}

// -----

func.func @returns_something_else(%a: tensor<4xf32>) {
  // expected-error @+1 {{carries ('tensor<4xf32>') but returns ('tensor<8xf32>')}}
  %l = rt.loop 2 init(%a) : (tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%i: i64, %x: tensor<4xf32>):
    rt.yield %x : tensor<4xf32>
  }
  return
}
