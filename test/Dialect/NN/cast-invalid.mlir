// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @result_is_not_what_it_casts_to(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has result type 'tensor<8xf32>', but its operands give 'tensor<8xbf16>'}}
  %y = nn.cast %x to bf16 : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
