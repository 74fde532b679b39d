// Sums of gradients have numbers of their own, after the value before; with stages, which add in another order, none.
// RUN: tessera-opt %s --rt-number-values -split-input-file | FileCheck %s

// CHECK-LABEL: @step
// CHECK: nn.map gelu {{.*}}name = "0:map"
// CHECK: nn.add {{.*}}name = "1+0:add"
// CHECK: nn.add {{.*}}name = "1+1:add"
// CHECK: nn.map relu {{.*}}name = "1:map"
// CHECK: nn.add {{.*}}name = "2+0:add"
// CHECK: nn.add {{.*}}coefs{{.*}}name = "2:add"
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @step(%x: tensor<4xf32>) {
    %0 = nn.map gelu %x {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<4xf32>
    %1 = nn.add "a,a->a" %x, %0 {nn.phase = #nn.phase<backward>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = nn.add "a,a->a" %x, %1 {nn.phase = #nn.phase<backward>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = nn.map relu %2 {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<4xf32>
    %4 = nn.add "a,a->a" %x, %3 {nn.phase = #nn.phase<backward>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = nn.add "a,a->a" %x, %4 {coefs = array<f64: 1.0, 2.0>, nn.phase = #nn.phase<backward>}
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// CHECK-LABEL: @step
// CHECK: nn.map gelu {{.*}}name = "0:map"
// CHECK: nn.add
// CHECK-NOT: rt.keep
// CHECK: nn.map relu {{.*}}name = "1:map"
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @step(%x: tensor<4xf32>) {
    %0 = nn.map gelu %x {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<4xf32>
    %1 = nn.add "a,a->a" %x, %0 {nn.phase = #nn.phase<backward>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = nn.map relu %1 {nn.phase = #nn.phase<backward>} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

// A gradient of a step names its operands; one of a smooth function does not, nor one of unnamed operands.
// CHECK-LABEL: @step
// CHECK: nn.map_grad relu {{.*}}name = "2:map_grad", step = {gradient = "1:map", input = "0:map"}
// CHECK: nn.map_grad gelu
// CHECK-NOT: step =
// CHECK: nn.map_grad relu
// CHECK-NOT: step =
module {
  func.func @step(%x: tensor<4xf32>) {
    %0 = nn.map exp %x : tensor<4xf32> -> tensor<4xf32>
    %1 = nn.map exp %0 : tensor<4xf32> -> tensor<4xf32>
    %2 = nn.map_grad relu %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = nn.map_grad gelu %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = nn.map_grad relu %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
