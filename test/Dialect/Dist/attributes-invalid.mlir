// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'dist.mesh' is "tp=2"; it must be #dist.mesh<...>}}
module attributes {dist.mesh = "tp=2"} {
}

// -----

// expected-error @+1 {{'dist.layout_invariant' is 3 : i64; it must be a power of 2}}
module attributes {dist.layout_invariant = 3} {
}

// -----

// expected-error @+1 {{'dist.masked' is 1 : i64; it must be without a value}}
module attributes {dist.masked = 1} {
}

// -----

func.func @chunk(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dist.chunk' is -1 : i64; it must be an i64 from 0 to 65535}}
  %y = nn.map exp %x {dist.chunk = -1} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @ring(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dist.ring' is unit; it must be a string of UTF-8 that is not empty}}
  %y = nn.map exp %x {dist.ring} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @chunked_sums(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dist.chunked_sums' is {a = 1 : i64, b = 2 : i64}; it must be {}, or {factor = chunks : i64}}}
  %y = nn.map exp %x {dist.chunked_sums = {a = 1, b = 2}} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'dist.chunk' of argument #0 is an attribute of ops, not of arguments of functions}}
func.func @chunk_of_an_argument(%x: tensor<4xf32> {dist.chunk = 0}) {
  return
}
