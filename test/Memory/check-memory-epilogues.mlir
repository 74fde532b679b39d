// A tensor that a product makes or reads beside its matrices has a place of its own.
// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-check-memory %s

module attributes {rt.arena = 512 : i64} {
  func.func @step(%a: tensor<4x4xf32> {nn.param = "a", rt.offset = 0 : i64}) -> (tensor<4x4xf32> {nn.role = "loss"}) {
    // expected-error @below {{results #0 and #1 overlap}}
    %y, %p = rt.gemm %a, %a
        {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, trans_a = false,
        trans_b = false, rt.offsets = array<i64: 64, 64>} : tensor<4x4xf32>,
        tensor<4x4xf32> -> tensor<4x4xf32> saving tensor<4x4xf32>
    %d = rt.gemm %y, %a gelu_grad(%p : tensor<4x4xf32>)
        {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, trans_a = false,
        trans_b = false, rt.offsets = array<i64: 256>} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %d : tensor<4x4xf32>
  }
}

// -----

module attributes {rt.arena = 512 : i64} {
  func.func @step(%a: tensor<4x4xf32> {nn.param = "a", rt.offset = 0 : i64}) -> (tensor<4x4xf32> {nn.role = "loss"}) {
    %y, %p = rt.gemm %a, %a
        {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, trans_a = false,
        trans_b = false, rt.offsets = array<i64: 64, 128>} : tensor<4x4xf32>,
        tensor<4x4xf32> -> tensor<4x4xf32> saving tensor<4x4xf32>
    // expected-error @below {{result #0 at bytes [128, 192) overlaps operand #2 at bytes [128, 192)}}
    %d = rt.gemm %y, %a gelu_grad(%p : tensor<4x4xf32>)
        {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, trans_a = false,
        trans_b = false, rt.offsets = array<i64: 128>} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %d : tensor<4x4xf32>
  }
}

// -----

module attributes {rt.arena = 512 : i64} {
  func.func @step(%a: tensor<4x4xf32> {nn.param = "a", rt.offset = 0 : i64}) -> (tensor<4x4xf32> {nn.role = "loss"}) {
    // expected-error @below {{result #1 at bytes [0, 16) overlaps operand #0 at bytes [0, 64)}}
    %y, %s = rt.gemm %a, %a summing b
        {m = 4 : i64, n = 4 : i64, k = 4 : i64, lda = 4 : i64, ldb = 4 : i64, ldc = 4 : i64, trans_a = false,
        trans_b = false, rt.offsets = array<i64: 64, 0>} : tensor<4x4xf32>,
        tensor<4x4xf32> -> tensor<4x4xf32> sums tensor<4xf32>
    return %y : tensor<4x4xf32>
  }
}
