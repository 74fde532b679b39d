// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_to_stack() {
  // expected-error @+1 {{has no operands; it needs at least 1}}
  %y = nn.stack along 0 : () -> tensor<1x8xf32>
  return
}

// -----

func.func @no_such_dimension(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{cannot stack tensors of rank 1 along dimension 2; use one from 0 to 1}}
  %z = nn.stack %x, %y along 2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @negative_dimension(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{cannot stack tensors of rank 1 along dimension -1; use one from 0 to 1}}
  %z = nn.stack %x, %y along -1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @shapes_differ(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 'a' differ}}
  %z = nn.stack %x, %y along 0 : (tensor<8xf32>, tensor<4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @ranks_differ(%x: tensor<8xf32>, %y: tensor<8x1xf32>) {
  // expected-error @+1 {{operand 1 has rank 2, but its factors are 'a'}}
  %z = nn.stack %x, %y along 0 : (tensor<8xf32>, tensor<8x1xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @joined_elsewhere(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{has result type 'tensor<2x8xf32>', but its operands give 'tensor<8x2xf32>'}}
  %z = nn.stack %x, %y along 1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @addend_with_replicated(%x: tensor<8xf32, #dist<tp: P>>, %y: tensor<8xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses P, R on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %z = nn.stack %x, %y along 0
        : (tensor<8xf32, #dist<tp: P>>, tensor<8xf32, #dist<tp: R>>) -> tensor<2x8xf32, #dist<tp: P>>
    return
  }
}
