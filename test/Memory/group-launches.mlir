// RUN: tessera-opt --split-input-file --rt-group-launches %s | FileCheck %s

// Sums of each gradient, then updates that need all of them: launches of one
// kernel come together, in the order that their operands leave.
// CHECK-LABEL: func.func @step
// CHECK:      %[[A:.*]] = rt.launch @rows(%arg0)
// CHECK-NEXT: %[[B:.*]] = rt.launch @rows(%arg1)
// CHECK-NEXT: %[[SA:.*]] = rt.launch @sum(%[[A]])
// CHECK-NEXT: %[[SB:.*]] = rt.launch @sum(%[[B]])
// CHECK-NEXT: %[[NORM:.*]] = rt.launch @add(%[[SA]], %[[SB]])
// CHECK-NEXT: rt.launch @update(%[[NORM]], %arg0)
// CHECK-NEXT: rt.launch @update(%[[NORM]], %arg1)
// CHECK-NEXT: rt.launch @other(%[[NORM]], %arg0)
// CHECK-NEXT: return
module {
  func.func private @rows(tensor<8x8xf32>) -> tensor<8xf32>
  func.func private @sum(tensor<8xf32>) -> tensor<f32>
  func.func private @add(tensor<f32>, tensor<f32>) -> tensor<f32>
  func.func private @update(tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.func private @other(tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  func.func @step(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %ra = rt.launch @rows(%a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8x8xf32>) -> tensor<8xf32>
    %sa = rt.launch @sum(%ra) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<f32>
    %rb = rt.launch @rows(%b) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8x8xf32>) -> tensor<8xf32>
    %sb = rt.launch @sum(%rb) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<f32>
    %n = rt.launch @add(%sa, %sb) {count = 1 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %x = rt.launch @update(%n, %a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = rt.launch @other(%n, %a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %z = rt.launch @update(%n, %b) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %x, %y, %z : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// An update that may be written over its operand stays behind those that read it: @read of %b comes before the update
// of %b, and so no copy is needed.
// CHECK-LABEL: func.func @step
// CHECK:      rt.launch @update(%arg0)
// CHECK-NEXT: rt.launch @read(%arg1)
// CHECK-NEXT: rt.launch @update(%arg1)
module {
  func.func private @update(tensor<8xf32>) -> tensor<8xf32> attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func private @read(tensor<8xf32>) -> tensor<8xf32>
  func.func @step(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %x = rt.launch @update(%a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %y = rt.launch @read(%b) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %z = rt.launch @update(%b) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    return %x, %y, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Views of something older move out of the way; another call, and a view of a
// result, end what is sorted. Launches of other phases stay.
// CHECK-LABEL: func.func @step
// CHECK:      %[[V:.*]] = rt.view %arg0
// CHECK-NEXT: %[[W:.*]] = rt.view %arg0
// CHECK-NEXT: rt.launch @f(%[[V]])
// CHECK-NEXT: %[[F:.*]] = rt.launch @f(%[[W]])
// CHECK-NEXT: rt.launch @g(%[[V]])
// CHECK-NEXT: %[[X:.*]] = rt.view %[[F]]
// CHECK-NEXT: rt.launch @f(%[[X]])
// CHECK-NEXT: rt.zero
// CHECK-NEXT: rt.launch @f
// CHECK-NEXT: rt.launch @g
// CHECK-NEXT: rt.launch @f
module {
  func.func private @f(tensor<8xf32>) -> tensor<8xf32>
  func.func private @g(tensor<8xf32>) -> tensor<8xf32>
  func.func @step(%a: tensor<16xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %v = rt.view %a {offset = 0 : i64} : tensor<16xf32> -> tensor<8xf32>
    %f1 = rt.launch @f(%v) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %g1 = rt.launch @g(%v) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %w = rt.view %a {offset = 8 : i64} : tensor<16xf32> -> tensor<8xf32>
    %f2 = rt.launch @f(%w) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %x = rt.view %f2 {offset = 0 : i64} : tensor<8xf32> -> tensor<8xf32>
    %f3 = rt.launch @f(%x) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<optimizer>} : (tensor<8xf32>) -> tensor<8xf32>
    %zero = rt.zero : tensor<8xf32>
    %f4 = rt.launch @f(%zero) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %g4 = rt.launch @g(%f1) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    %f5 = rt.launch @f(%g1) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    return %f3, %f4, %g4, %f5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Casts of parameters come together if their results are small, or if backward
// reads them; @large of %c is read in forward alone, and other launches stay.
// CHECK-LABEL: func.func @step
// CHECK:      rt.launch @small(%arg0)
// CHECK-NEXT: rt.launch @small(%arg1)
// CHECK-NEXT: %[[L:.*]] = rt.launch @large(%arg2)
// CHECK-NEXT: rt.launch @large(%arg3)
// CHECK-NEXT: rt.launch @use
// CHECK-NEXT: rt.launch @large(%arg4)
// CHECK-NEXT: rt.launch @small(%arg5)
// CHECK-NEXT: rt.launch @once(%arg0)
module {
  func.func private @small(tensor<8xf32>) -> tensor<8xbf16>
  func.func private @once(tensor<8xf32>) -> tensor<8xbf16>
  func.func private @large(tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
  func.func private @use(tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
  func.func @step(%a: tensor<8xf32> {nn.param = "a"}, %b: tensor<8xf32> {nn.param = "b"},
      %x: tensor<1024x1024xf32> {nn.param = "x"}, %y: tensor<1024x1024xf32> {nn.param = "y"},
      %c: tensor<1024x1024xf32> {nn.param = "c"}, %ids: tensor<8xf32>) -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
    %sa = rt.launch @small(%a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xf32>) -> tensor<8xbf16>
    %lx = rt.launch @large(%x) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
    %u = rt.launch @use(%sa, %lx) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
    %lc = rt.launch @large(%c) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
    %si = rt.launch @small(%ids) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xf32>) -> tensor<8xbf16>
    %o = rt.launch @once(%a) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xf32>) -> tensor<8xbf16>
    %v = rt.launch @use(%si, %lc) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
    %sb = rt.launch @small(%b) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xf32>) -> tensor<8xbf16>
    %ly = rt.launch @large(%y) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
    %w = rt.launch @use(%sb, %ly) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<forward>} : (tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
    %g = rt.launch @use(%u, %lx) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
    %h = rt.launch @use(%w, %ly) {count = 8 : i64, grain = 1 : i64, nn.phase = #nn.phase<backward>} : (tensor<8xbf16>, tensor<1024x1024xbf16>) -> tensor<8xbf16>
    return %v, %g, %h : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>
  }
}
