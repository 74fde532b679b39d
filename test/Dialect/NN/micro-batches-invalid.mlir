// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @no_micro_batch() {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  nn.micro_batches 0 of () : () -> () {
    nn.yield
  }
  return
}

// -----

func.func @count_is_not_the_data(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{runs 2 micro-batches, but its data is 'tensor<3x4xf32>'}}
  nn.micro_batches 2 of (%x) : (tensor<3x4xf32>) -> () {
  ^bb0(%one: tensor<4xf32>):
    nn.yield
  }
  return
}

// -----

func.func @data_is_a_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{runs 2 micro-batches, but its data is 'tensor<f32>'}}
  nn.micro_batches 2 of (%x) : (tensor<f32>) -> () {
  ^bb0(%one: tensor<f32>):
    nn.yield
  }
  return
}

// -----

func.func @another_slice(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{passes 'tensor<5xf32>' of 'tensor<2x4xf32>'; it must be 'tensor<4xf32>'}}
  nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> () {
  ^bb0(%one: tensor<5xf32>):
    nn.yield
  }
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @slice_in_another_state(%x: tensor<2x4xf32, #dist<dp: S(1)>>) {
    // expected-error @+1 {{passes 'tensor<4xf32>' of 'tensor<2x4xf32, #dist<dp: S(1)>>'; it must be 'tensor<4xf32, #dist<dp: S(0)>>'}}
    nn.micro_batches 2 of (%x) : (tensor<2x4xf32, #dist<dp: S(1)>>) -> () {
    ^bb0(%one: tensor<4xf32>):
      nn.yield
    }
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @ranks_run_different_micro_batches(%x: tensor<2x4xf32, #dist<dp: S(0)>>) {
    // expected-error @+1 {{has data of type 'tensor<2x4xf32, #dist<dp: S(0)>>', but axis 'dp' must not shard dimension 0, which counts micro-batches}}
    nn.micro_batches 2 of (%x) : (tensor<2x4xf32, #dist<dp: S(0)>>) -> () {
    ^bb0(%one: tensor<4xf32>):
      nn.yield
    }
    return
  }
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
  // expected-error @+1 {{yields ('tensor<4xf32>'), but returns ('tensor<f32>')}}
  %y = nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> tensor<f32> {
  ^bb0(%one: tensor<4xf32>):
    nn.yield %one : tensor<4xf32>
  }
  return
}

// -----

func.func @another_terminator(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{expects regions to end with 'nn.yield', found 'llvm.unreachable'}}
  // expected-note @+1 {{in custom textual format, the absence of terminator implies 'nn.yield'}}
  nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> () {
  ^bb0(%one: tensor<4xf32>):
    llvm.unreachable
  }
  return
}
