// RUN: tessera-opt %s | tessera-opt | FileCheck %s

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  // CHECK-LABEL: @linear_in_the_gradient
  func.func @linear_in_the_gradient(%g: tensor<8xf32, #dist<tp: P>>,
      %x: tensor<8xf32, #dist<tp: R>>) -> tensor<8xf32, #dist<tp: P>> {
    // CHECK: nn.map_grad gelu_tanh %{{.*}}, %{{.*}} : ({{.*}}) -> tensor<8xf32, #dist<tp: P>>
    %y = nn.map_grad gelu_tanh %g, %x
        : (tensor<8xf32, #dist<tp: P>>, tensor<8xf32, #dist<tp: R>>) -> tensor<8xf32, #dist<tp: P>>
    return %y : tensor<8xf32, #dist<tp: P>>
  }
}
