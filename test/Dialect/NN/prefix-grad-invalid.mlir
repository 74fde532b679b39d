// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @columns_differ(%g: tensor<4x4xf32>, %x: tensor<8x2xf32>) {
  // expected-error @+1 {{sizes 4 and 2 of factor 'h' differ}}
  %y = nn.prefix_grad %g like %x : (tensor<4x4xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @not_a_matrix(%g: tensor<4xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{operand 0 has rank 1, but its factors are 'sh'}}
  %y = nn.prefix_grad %g like %x : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @rows_of_the_gradient_are_split(%g: tensor<4x4xf32, #dist<tp: S(0)>>, %x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses S(0), R on axis 'tp'}}
    // expected-note @+1 {{operand 0 shards dimension 0, which this op needs whole: all_gather it first}}
    %y = nn.prefix_grad %g like %x
        : (tensor<4x4xf32, #dist<tp: S(0)>>, tensor<8x4xf32, #dist<tp: R>>) -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @invariant_gradient_of_a_replicated_value(%g: tensor<4x4xf32>, %x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+2 {{refuses I, R on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.prefix_grad %g like %x : (tensor<4x4xf32>, tensor<8x4xf32, #dist<tp: R>>) -> tensor<8x4xf32>
    return
  }
}
