// Every value of the serial program gets a number; candidates of a maximum denote nothing alone.
// RUN: tessera-opt %s --rt-number-values | FileCheck %s
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<4x8xf32, #dist<tp: S(1)>>) {
    // CHECK: nn.map gelu {{.*}}rt.keep = [{global = tensor<4x8xf32, #dist<tp: S(1)>>, name = "0:map of h.0.mlp"}]
    %0 = nn.map gelu %x : tensor<4x8xf32, #dist<tp: S(1)>> -> tensor<4x8xf32, #dist<tp: S(1)>> loc("h.0.mlp")
    // CHECK: nn.max {{.*}}rt.keep = [{}]
    %1 = nn.max %0 : tensor<4x8xf32, #dist<tp: S(1)>> -> tensor<4xf32, #dist<tp: M>>
    return
  }
}
