// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @nothing_to_run(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = rt.launch @kernel(%x) {count = 0 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @ranges_are_empty(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'grain' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = rt.launch @kernel(%x) {count = 4 : i64, grain = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @count_is_missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'count'}}
  %y = rt.launch @kernel(%x) {grain = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
