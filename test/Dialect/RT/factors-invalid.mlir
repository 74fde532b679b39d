// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @sizes_of_another_type(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 'rt.factors' = {a = {axes = ["tp"], chunks = array<i32: 4>, total = 8 : i64}}; it must be {axes = ["axis"], chunks = array<i64: size>, total = size : i64}, a size for each axis}}
  %y = nn.map relu %x {rt.factors = {a = {axes = ["tp"], chunks = array<i32: 4>, total = 8 : i64}}} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @no_size_for_an_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{a size for each axis}}
  %y = nn.map relu %x {rt.factors = {a = {axes = ["dp", "tp"], chunks = array<i64: 4>, total = 8 : i64}}} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @no_dictionary(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 'rt.factors', which must be a dictionary of factors}}
  %y = nn.map relu %x {rt.factors = "a"} : tensor<8xf32> -> tensor<8xf32>
  return
}
