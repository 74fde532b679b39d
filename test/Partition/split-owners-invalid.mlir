// RUN: tessera-opt %s --dist-split-owners -verify-diagnostics
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @step(%x: tensor<4xf32, #dist<dp: A(0)>>) -> tensor<4xf32, #dist<dp: A(1)>> {
    // expected-error @+1 {{'dist.convert' op passes a value from one owner to another, which no parameter needs}}
    %0 = dist.convert send %x on "dp" : tensor<4xf32, #dist<dp: A(0)>> -> tensor<4xf32, #dist<dp: A(1)>>
    return %0 : tensor<4xf32, #dist<dp: A(1)>>
  }
}
