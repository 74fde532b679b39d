// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @result_of_another_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{failed to verify that all of {input, result} have same type}}
  %b = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @axes_are_names(%a: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'axes' failed to satisfy constraint: string array attribute}}
  %b = rt.all_reduce %a over [1] {maximum = false} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @sum_or_maximum(%a: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'maximum'}}
  %b = rt.all_reduce %a over ["tp"] : tensor<4xf32> -> tensor<4xf32>
  return
}
