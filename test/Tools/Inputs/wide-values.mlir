// Attention with heads of 8 for queries and keys, and of 4 for values.
module attributes {nn.model = {batch = 2 : i64, family = "none", layers = 1 : i64, micro_batches = 1 : i64, sequence = 4 : i64, vocabulary = 8 : i64}} {
  func.func @loss(%w: tensor<8x16xf32> {nn.dims = "vh", nn.init = {kind = "ones"}, nn.param = "w"},
      %q: tensor<16x2x8xf32> {nn.dims = "hnd", nn.init = {kind = "ones"}, nn.param = "q"},
      %v: tensor<16x2x4xf32> {nn.dims = "hnd", nn.init = {kind = "ones"}, nn.param = "v"},
      %ids: tensor<2x4xi32> {nn.data = "ids", nn.dims = "bs"}, %labels: tensor<2x4xi32> {nn.data = "labels", nn.dims = "bs"}) -> tensor<f32> {
    %x = nn.embedding %ids, %w : (tensor<2x4xi32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
    %a = nn.einsum "bsh,hnd->bsnd" %x, %q : (tensor<2x4x16xf32>, tensor<16x2x8xf32>) -> tensor<2x4x2x8xf32>
    %b = nn.einsum "bsh,hnd->bsnd" %x, %v : (tensor<2x4x16xf32>, tensor<16x2x4xf32>) -> tensor<2x4x2x4xf32>
    %o, %lse = nn.attention %a, %a, %b <causal, scale = 1.0>
        : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x4xf32>) -> (tensor<2x4x2x4xf32>, tensor<2x2x4xf32>)
    %loss = nn.einsum "bsnd->" %o : (tensor<2x4x2x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
