// RUN: tessera-opt --rt-plan-memory %s | FileCheck %s

// The attribute lists what comes and goes over the step, and what is alive at the peak: where the gradient of x1 is
// computed, x0, x1 and its gradient are needed; x0 and x1 are of forward, and backward reads them.
// CHECK: rt.arena_over_step = "{\22alive\22:[
// CHECK-SAME: {\22bytes\22:1024,\22kind\22:\22activations\22,\22name\22:\22h.0\22,\22op\22:\22zero\22}
// CHECK-SAME: {\22bytes\22:1024,\22kind\22:\22activations\22,\22name\22:\22h.1\22,\22op\22:\22f\22}
// CHECK-SAME: {\22bytes\22:1024,\22kind\22:\22workspace\22,\22name\22:\22h.1\22,\22op\22:\22g\22}
// CHECK-SAME: \22peak\22:3,
// CHECK-SAME: {\22at\22:1,\22bytes\22:[0,0,0,1024,0],\22name\22:\22h.0\22,\22phase\22:\22forward\22},
// CHECK-SAME: {\22at\22:2,\22bytes\22:[0,0,0,2048,0],\22name\22:\22h.1\22,\22phase\22:\22forward\22},
// CHECK-SAME: {\22at\22:3,\22bytes\22:[0,0,0,2048,1024],\22name\22:\22h.1\22,\22phase\22:\22backward\22},
module {
  func.func private @f(tensor<256xf32>) -> tensor<256xf32>
  func.func private @g(tensor<256xf32>) -> tensor<256xf32>
  func.func private @b(tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %x0 = rt.zero : tensor<256xf32> loc("h.0")
    %x1 = rt.launch @f(%x0) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32> loc("h.1")
    %g1 = rt.launch @g(%x1) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>) -> tensor<256xf32> loc("h.1")
    %l = rt.launch @b(%g1, %x0) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32> loc("h.0")
    return %l : tensor<f32>
  }
}
