// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-insert-copies %s

// The kernel does not say that it may write over its argument.
module {
  func.func private @decay(tensor<8xf32>) -> tensor<8xf32>
  func.func @step(%w: tensor<8xf32> {nn.param = "w"}) -> (tensor<8xf32> {nn.role = "parameter", nn.param = "w"}) {
    // expected-note @below {{the value is here}}
    %n = rt.launch @decay(%w) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @below {{operand #0 cannot be written over the argument that it updates: its producer reads it in another order, or it is read again later}}
    return %n : tensor<8xf32>
  }
}

// -----

// expected-error @below {{has no function @step}}
module {}

// -----

module {
  // expected-error @below {{argument #0 of @step has type 'tensor<?xf32>'; all sizes must be static and above 0}}
  func.func @step(%w: tensor<?xf32>) {
    return
  }
}

// -----

module {
  func.func @step(%w: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{is not an op of the lowered program}}
    %0 = nn.map relu %w : tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A collective would send the padding, and count rows wrongly.
module {
  func.func @step(%x: tensor<4x8xf32>, %w: tensor<9x8xf32>) -> tensor<4x9xf32, #rt.row_stride<16>> {
    // expected-note @below {{the value is here}}
    %y = rt.gemm %x, %w
        {m = 4 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64, trans_a = false,
        trans_b = true} : tensor<4x8xf32>, tensor<9x8xf32> -> tensor<4x9xf32, #rt.row_stride<16>>
    // expected-error @below {{operand #0 has padded rows, of which the op knows nothing}}
    %s = rt.all_reduce %y over ["tp"] {maximum = false}
        : tensor<4x9xf32, #rt.row_stride<16>> -> tensor<4x9xf32, #rt.row_stride<16>>
    return %s : tensor<4x9xf32, #rt.row_stride<16>>
  }
}

// -----

// The kernel would read the padding as the next row.
module {
  func.func private @double(tensor<4x9xf32>) -> tensor<4x9xf32>
  func.func @step(%x: tensor<4x8xf32>, %w: tensor<9x8xf32>) -> tensor<4x9xf32> {
    // expected-note @below {{the value is here}}
    %y = rt.gemm %x, %w
        {m = 4 : i64, n = 9 : i64, k = 8 : i64, lda = 8 : i64, ldb = 8 : i64, ldc = 16 : i64, trans_a = false,
        trans_b = true} : tensor<4x8xf32>, tensor<9x8xf32> -> tensor<4x9xf32, #rt.row_stride<16>>
    // expected-error @below {{operand #0 has padded rows, of which the op knows nothing}}
    %z = rt.launch @double(%y) {count = 4 : i64, grain = 1 : i64}
        : (tensor<4x9xf32, #rt.row_stride<16>>) -> tensor<4x9xf32>
    return %z : tensor<4x9xf32>
  }
}
