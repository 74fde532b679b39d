// RUN: tessera-opt %s --split-input-file --verify-diagnostics --dist-distribute=mesh=dp=2,tp=4

// expected-error @+1 {{'qkv': 6 heads cannot be split over mesh axis 'tp' of size 4; use a size of 'tp' that divides 6}}
func.func @heads(%w: tensor<8x3x6x4xf32> {nn.param = "qkv", nn.dims = "hcnd"}) {
  return
}

// -----

// Sums of a fixed order have equal chunks.
module attributes {dist.layout_invariant = 8 : i64} {
  // expected-error @+1 {{the batch: 3 sequences of a micro-batch cannot be split over mesh axis 'dp' of size 2; use a size of 'dp' that divides 3, or a batch with a multiple of 2 sequences per micro-batch}}
  func.func @batch(%ids: tensor<3x8xi32> {nn.data = "ids", nn.dims = "bs"}) {
    return
  }
}

// -----

// expected-error @+1 {{argument #0 has rank 1, but its nn.dims 'hf' name 2 dimensions}}
func.func @dims(%w: tensor<8xf32> {nn.param = "w", nn.dims = "hf"}) {
  return
}

// -----

// expected-error @+1 {{argument #0 of @scalar has type 'f32'; it must be a ranked tensor}}
func.func @scalar(%x: f32) {
  return
}

// -----

// expected-error @+1 {{@declaration must have a body of one block}}
func.func private @declaration(tensor<8xf32>)

// -----

func.func @op_of_another_dialect(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{cannot be distributed; only nn ops of a serial program can}}
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// The outer level of a dimension cannot be gathered before the inner one.
!x = tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>>
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 4>} {
  func.func @inner_level_is_in_the_way(%x: !x) -> !x {
    // expected-error @+1 {{has no legal distribution on axis 'tp'}}
    %y = nn.map relu %x {nn.tag = #nn.tag<stream>} : !x -> !x
    return %y : !x
  }
}
