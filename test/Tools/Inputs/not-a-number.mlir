// The square root of x - 3, which is NaN in every program.
module attributes {nn.model = {batch = 2 : i64, family = "none", layers = 1 : i64, micro_batches = 1 : i64, sequence = 4 : i64, vocabulary = 8 : i64}} {
  func.func @loss(%w: tensor<8x4xf32> {nn.dims = "vh", nn.init = {kind = "ones"}, nn.param = "w"},
      %ids: tensor<2x4xi32> {nn.data = "ids", nn.dims = "bs"}, %labels: tensor<2x4xi32> {nn.data = "labels", nn.dims = "bs"}) -> tensor<f32> {
    %x = nn.embedding %ids, %w : (tensor<2x4xi32>, tensor<8x4xf32>) -> tensor<2x4x4xf32>
    %one = nn.constant 1.0 f32 : tensor<f32>
    %y = nn.add "bsh,->bsh" %x, %one {coefs = array<f64: 1.0, -3.0>} : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %z = nn.map sqrt %y : tensor<2x4x4xf32> -> tensor<2x4x4xf32> loc("root")
    %l = nn.einsum "bsh,vh->bsv" %z, %w : (tensor<2x4x4xf32>, tensor<8x4xf32>) -> tensor<2x4x8xf32>
    %t = nn.pick %l, %labels : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
    %loss = nn.einsum "bs->" %t : (tensor<2x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
