// RUN: tessera-opt --split-input-file --verify-diagnostics %s

func.func @gemm(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %acc: tensor<8xf32>) {
  // expected-error @below {{accumulates 'tensor<4x8xf32>' into 'tensor<8xf32>'}}
  %c = rt.gemm %a, %b into(%acc : tensor<8xf32>) {m = 4 : i64, n = 8 : i64, k = 16 : i64, lda = 16 : i64, ldb = 8 : i64, ldc = 8 : i64, trans_a = false, trans_b = false} : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @attention(%q: tensor<2x8x16xf32>, %i: i64) {
  // expected-error @below {{has an operand or result of rank 3, it must be 4: batch, sequence, heads, head size}}
  %o, %lse = rt.attention %q, %q, %q, %i, %i {row_q = 16 : i64, row_k = 16 : i64, row_v = 16 : i64, heads_total = 1 : i64, scale = 1.0 : f64, causal = true, dropout = 0.0 : f64, stream = 0 : i64} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, i64, i64) -> (tensor<2x8x16xf32>, tensor<2x1x8xf32>)
  return
}

// -----

func.func @join(%a: tensor<4xf32>) {
  // expected-error @below {{has 2 parts and 1 offsets}}
  %j = rt.join %a, %a {part_offsets = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @loop(%a: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{carries ('tensor<4xf32>') but yields ('tensor<8xf32>')}}
  %l = rt.loop 2 init(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: i64, %x: tensor<4xf32>):
    rt.yield %b : tensor<8xf32>
  }
  return
}

// -----

func.func @all_reduce(%a: tensor<4xf32>) {
  // expected-error @below {{failed to verify that all of {input, result} have same type}}
  %b = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<4xf32> -> tensor<8xf32>
  return
}
