// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @count_is_not_the_data(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{runs 2 micro-batches, but its data is 'tensor<3x4xf32>'}}
  nn.micro_batches 2 of (%x) : (tensor<3x4xf32>) -> () {
  ^bb0(%one: tensor<4xf32>):
    nn.yield
  }
  return
}

// -----

func.func @another_slice(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{passes 'tensor<5xf32>' of 'tensor<2x4xf32>'}}
  nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> () {
  ^bb0(%one: tensor<5xf32>):
    nn.yield
  }
  return
}

// -----

func.func @arguments_missing(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{has 1 operands and 0 block arguments}}
  nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> () {
    nn.yield
  }
  return
}

// -----

func.func @yields_something_else(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{yields other types than its results have}}
  %y = nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> tensor<f32> {
  ^bb0(%one: tensor<4xf32>):
    nn.yield %one : tensor<4xf32>
  }
  return
}
