// RUN: tessera-opt --split-input-file --rt-plan-memory --rt-check-memory %s | FileCheck %s

// Forward keeps x0, x1, x2, x3 of 1024 bytes; while the gradient of x3 is
// computed five arrays are needed, and never more: 5 * 1024 bytes.
// CHECK: rt.arena = 5120 : i64, rt.arena_by_kind = {activations = 4096 : i64, "gathered weights" = 0 : i64,
// CHECK-SAME: gradients = 0 : i64, inputs = 0 : i64, optimizer = 0 : i64, "weight copies" = 0 : i64, weights = 0 : i64, workspace = 1024 : i64}
module {
  func.func private @f(tensor<256xf32>) -> tensor<256xf32>
  func.func private @b(tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  func.func private @sum(tensor<256xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %x0 = rt.zero : tensor<256xf32>
    %x1 = rt.launch @f(%x0) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %x2 = rt.launch @f(%x1) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %x3 = rt.launch @f(%x2) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %g3 = rt.launch @f(%x3) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>) -> tensor<256xf32>
    %g2 = rt.launch @b(%g3, %x2) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %g1 = rt.launch @b(%g2, %x1) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %g0 = rt.launch @b(%g1, %x0) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %l = rt.launch @sum(%g0) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// Kernels that may write over what dies need one array less.
// CHECK: rt.arena = 4096 : i64
module {
  func.func private @f(tensor<256xf32>) -> tensor<256xf32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func private @b(tensor<256xf32>,
      tensor<256xf32>) -> tensor<256xf32> attributes {rt.may_share = [array<i64: 0, 0>, array<i64: 1, 0>]}
  func.func private @sum(tensor<256xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %x0 = rt.zero : tensor<256xf32>
    %x1 = rt.launch @f(%x0) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %x2 = rt.launch @f(%x1) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %x3 = rt.launch @f(%x2) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xf32>
    %g3 = rt.launch @f(%x3) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>) -> tensor<256xf32>
    %g2 = rt.launch @b(%g3, %x2) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %g1 = rt.launch @b(%g2, %x1) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %g0 = rt.launch @b(%g1, %x0) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    %l = rt.launch @sum(%g0) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A gradient is counted as one.
// CHECK: rt.arena = 1088 : i64, rt.arena_by_kind = {activations = 0 : i64, "gathered weights" = 0 : i64, gradients = 1024
// CHECK-SAME: : i64
module {
  func.func private @sum(tensor<256xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %g = rt.zero {nn.phase = #nn.phase<backward>, rt.role = [{nn.role = "gradient", nn.param = "w"}]} : tensor<256xf32>
    %l = rt.launch @sum(%g) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A parameter that ranks gather, rounded, is no activation, though backward reads it; what is gathered of an activation
// is one.
// CHECK: rt.arena_by_kind = {activations = 2048 : i64, "gathered weights" = 1024 : i64,
module {
  func.func private @round(tensor<256xf32>) -> tensor<256xbf16>
  func.func private @f(tensor<512xbf16>) -> tensor<256xf32>
  func.func private @b(tensor<512xf32>, tensor<512xbf16>) -> tensor<256xf32>
  func.func private @sum(tensor<256xf32>) -> tensor<f32>
  func.func @step(%p: tensor<256xf32> {nn.param = "p"}) -> (tensor<f32> {nn.role = "loss"}) {
    %r = rt.launch @round(%p) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xbf16>
    %w = rt.all_gather %r along 0 over ["dp"] async : tensor<256xbf16> -> tensor<512xbf16>
    %v = rt.wait %w reading(%r : tensor<256xbf16>) : tensor<512xbf16> -> tensor<512xbf16>
    %x = rt.launch @f(%v) {count = 256 : i64, grain = 1 : i64} : (tensor<512xbf16>) -> tensor<256xf32>
    %y = rt.all_gather %x along 0 over ["tp"] : tensor<256xf32> -> tensor<512xf32>
    %g = rt.launch @b(%y, %v) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<512xf32>, tensor<512xbf16>) -> tensor<256xf32>
    %l = rt.launch @sum(%g) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A rounded parameter is a copy of it, though forward and backward read it; what it is multiplied with is not.
// CHECK: rt.arena_by_kind = {activations = 1024 : i64,
// CHECK-SAME: "weight copies" = 512 : i64,
module {
  func.func private @round(tensor<256xf32>) -> tensor<256xbf16>
  func.func private @f(tensor<256xbf16>, tensor<256xf32>) -> tensor<256xf32>
  func.func private @sum(tensor<256xf32>) -> tensor<f32>
  func.func @step(%p: tensor<256xf32> {nn.param = "p"}) -> (tensor<f32> {nn.role = "loss"}) {
    %r = rt.launch @round(%p) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<256xbf16>
    %x = rt.zero : tensor<256xf32>
    %y = rt.launch @f(%r, %x) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xbf16>, tensor<256xf32>) -> tensor<256xf32>
    %l = rt.launch @sum(%y) {count = 256 : i64, grain = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// A gradient that is summed before ranks scatter it counts as one from the start.
// CHECK: rt.arena_by_kind = {activations = 0 : i64, "gathered weights" = 0 : i64, gradients = 1536 : i64,
module {
  func.func private @add(tensor<256xf32>) -> tensor<256xf32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func private @sum(tensor<128xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %z = rt.zero : tensor<256xf32>
    %g = rt.launch @add(%z) {count = 256 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>}
        : (tensor<256xf32>) -> tensor<256xf32>
    %s = rt.reduce_scatter %g along 0 over ["dp"] async {nn.phase = #nn.phase<backward>} : tensor<256xf32> -> tensor<128xf32>
    %w = rt.wait %s reading(%g : tensor<256xf32>)
        {nn.phase = #nn.phase<backward>, rt.role = [{nn.role = "gradient", nn.param = "w"}]} : tensor<128xf32> -> tensor<128xf32>
    %l = rt.launch @sum(%w) {count = 128 : i64, grain = 1 : i64} : (tensor<128xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}
