// The programs whose diagnostics docs/TheOneRule.md quotes.
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @gelu_of_partial(%x: tensor<8x16xf32, #dist<tp: P>>) {
    %y = nn.map gelu %x : tensor<8x16xf32, #dist<tp: P>> -> tensor<8x16xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @bias_of_every_rank(%x: tensor<8x16xf32, #dist<tp: P>>, %b: tensor<16xf32>) {
    %y = nn.add "bh,h->bh" %x, %b : (tensor<8x16xf32, #dist<tp: P>>, tensor<16xf32>) -> tensor<8x16xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @weight_that_does_not_enter(%x: tensor<8x16xf32, #dist<dp: S(0)>>, %w: tensor<16x32xf32>) {
    %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<8x16xf32, #dist<dp: S(0)>>, tensor<16x32xf32>) -> tensor<8x32xf32, #dist<dp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @two_factors(%x: tensor<8x16xf32, #dist<tp: S(1)>>, %w: tensor<16x32xf32, #dist<tp: S(1)>>) {
    %y = nn.einsum "bh,hf->bf" %x, %w : (tensor<8x16xf32, #dist<tp: S(1)>>, tensor<16x32xf32, #dist<tp: S(1)>>) -> tensor<8x32xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @claims_to_be_reduced(%x: tensor<8x128x1024xf32, #dist<dp: S(0), tp: S(2)>>, %w: tensor<1024x256xf32, #dist<dp: R, tp: S(0)>>) {
    %y = nn.einsum "bsf,fh->bsh" %x, %w
      : (tensor<8x128x1024xf32, #dist<dp: S(0), tp: S(2)>>, tensor<1024x256xf32, #dist<dp: R, tp: S(0)>>) -> tensor<8x128x256xf32, #dist<dp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @no_such_conversion(%x: tensor<8x16xf32, #dist<tp: P>>) {
    %y = dist.convert all_reduce %x on "tp" : tensor<8x16xf32, #dist<tp: P>> -> tensor<8x16xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @wrong_kind(%x: tensor<8x16xf32, #dist<tp: P>>) {
    %y = dist.convert all_gather %x on "tp" : tensor<8x16xf32, #dist<tp: P>> -> tensor<8x16xf32>
    return
  }
}
