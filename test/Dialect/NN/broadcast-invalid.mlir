// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @malformed(%g: tensor<2x8xf32>, %x: tensor<2x8x64xf32>) {
  // expected-error @+1 {{has 2 operands, but its spec 'bs->bsv' names 1}}
  %y = nn.broadcast "bs->bsv" %g like %x : (tensor<2x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// -----

func.func @no_arrow(%g: tensor<2x8xf32>, %x: tensor<2x8x64xf32>) {
  // expected-error @+1 {{has the malformed spec 'bs,bsv'; write it as 'bsh,hf->bsf'}}
  %y = nn.broadcast "bs,bsv" %g like %x : (tensor<2x8xf32>, tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  return
}

// -----

func.func @not_like_the_result(%g: tensor<2x8xf32>, %x: tensor<2x8xf32>) {
  // expected-error @+1 {{has a result of factors 'bsv', but 'like' has 'bs'; they must be the same}}
  %y = nn.broadcast "bs,bs->bsv" %g like %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8x64xf32>
  return
}

// -----

func.func @sums_a_factor(%g: tensor<2x8x64xf32>, %x: tensor<2x8xf32>) {
  // expected-error @+1 {{operand 0 has factor 'v', which the result lacks; sum it with nn.einsum first}}
  %y = nn.broadcast "bsv,bs->bs" %g like %x : (tensor<2x8x64xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @sizes_differ(%g: tensor<2x8xf32>, %x: tensor<2x4x64xf32>) {
  // expected-error @+1 {{sizes 8 and 4 of factor 's' differ}}
  %y = nn.broadcast "bs,bsv->bsv" %g like %x : (tensor<2x8xf32>, tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @invariant_to_a_sharded_one(%g: tensor<2x8xf32>, %x: tensor<2x8x64xf32, #dist<tp: S(2)>>) {
    // expected-error @+2 {{refuses I, S(2) on axis 'tp'}}
    // expected-note @+1 {{an I operand stands next to a varying one: enter or slice it first}}
    %y = nn.broadcast "bs,bsv->bsv" %g like %x
        : (tensor<2x8xf32>, tensor<2x8x64xf32, #dist<tp: S(2)>>) -> tensor<2x8x64xf32, #dist<tp: S(2)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @addends_are_not_split(%g: tensor<2x8xf32, #dist<tp: P>>, %x: tensor<2x8x64xf32, #dist<tp: S(2)>>) {
    // expected-error @+2 {{refuses P, S(2) on axis 'tp'}}
    // expected-note @+1 {{reduce the partial operand first (all_reduce, reduce_scatter)}}
    %y = nn.broadcast "bs,bsv->bsv" %g like %x
        : (tensor<2x8xf32, #dist<tp: P>>, tensor<2x8x64xf32, #dist<tp: S(2)>>) -> tensor<2x8x64xf32, #dist<tp: S(2)>>
    return
  }
}
