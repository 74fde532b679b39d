// RUN: tessera-opt --rt-plan-memory %s | FileCheck %s --check-prefixes=CHECK,SHARED
// RUN: tessera-opt --rt-plan-memory=keep-inputs %s | FileCheck %s --check-prefixes=CHECK,APART

// The first sum dies where its root is taken, so the second root may lie in its
// place. With keep-inputs it lies apart, and both launches may run as one.
// CHECK:       rt.launch @sum(%arg0) {{.*}}array<i64: 128>
// CHECK:       rt.launch @sum(%arg1) {{.*}}array<i64: 192>
// CHECK:       rt.launch @root({{.*}}array<i64: 256>
// SHARED-NEXT: rt.launch @root({{.*}}array<i64: 128>
// APART-NEXT:  rt.launch @root({{.*}}array<i64: 320>
module {
  func.func private @sum(tensor<8xf32>) -> tensor<4xf32>
  func.func private @root(tensor<4xf32>) -> tensor<f32>
  func.func private @add(tensor<f32>, tensor<f32>) -> tensor<f32>
  func.func @step(%a: tensor<8xf32> {nn.param = "a"}, %b: tensor<8xf32> {nn.param = "b"}) -> (tensor<f32> {nn.role = "loss"}) {
    %sa = rt.launch @sum(%a) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<4xf32>
    %sb = rt.launch @sum(%b) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<4xf32>
    %ra = rt.launch @root(%sa) {count = 1 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
    %rb = rt.launch @root(%sb) {count = 1 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
    %n = rt.launch @add(%ra, %rb) {count = 1 : i64, grain = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %n : tensor<f32>
  }
}
