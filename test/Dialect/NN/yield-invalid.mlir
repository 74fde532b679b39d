// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @outside_of_micro_batches() {
  // expected-error @+1 {{expects parent op 'nn.micro_batches'}}
  nn.yield
}

// -----

func.func @not_at_the_end(%x: tensor<2x4xf32>) {
  nn.micro_batches 2 of (%x) : (tensor<2x4xf32>) -> () {
  ^bb0(%one: tensor<4xf32>):
    // expected-error @+1 {{must be the last operation in the parent block}}
    nn.yield
    nn.yield
  }
  return
}
