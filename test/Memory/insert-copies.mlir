// RUN: tessera-opt --split-input-file --rt-insert-copies %s | FileCheck %s

// A value that is written in place and read again is copied first.
// CHECK-LABEL: func.func @step
// CHECK: %[[A:.*]] = rt.zero
// CHECK: %[[C:.*]] = rt.copy %[[A]]
// CHECK: rt.all_reduce %[[C]]
// CHECK: rt.launch @add(%[[A]],
module {
  func.func private @add(tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<8xf32>
    %r = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
    %s = rt.launch @add(%a, %r) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// A value that dies is not.
// CHECK-LABEL: func.func @step
// CHECK-NOT: rt.copy
module {
  func.func private @sum(tensor<8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<8xf32>
    %r = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
    %s = rt.launch @sum(%r) {count = 8 : i64, grain = 1 : i64} : (tensor<8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// An argument survives.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W:.*]]: tensor<f32>
// CHECK: %[[C:.*]] = rt.copy %[[W]]
// CHECK: rt.all_reduce %[[C]]
module {
  func.func @step(%w: tensor<f32> {nn.role = "lr"}) -> (tensor<f32> {nn.role = "loss"}) {
    %r = rt.all_reduce %w over ["tp"] {maximum = false} : tensor<f32> -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

// A value from outside a loop is read by the next iteration.
// CHECK-LABEL: func.func @step
// CHECK: rt.loop
// CHECK: rt.copy
// CHECK: rt.all_reduce
module {
  func.func private @keep(tensor<f32>, tensor<f32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<f32>
    %z = rt.zero : tensor<f32>
    %l = rt.loop 2 init(%z) : (tensor<f32>) -> tensor<f32> {
    ^bb0(%i: i64, %s: tensor<f32>):
      %r = rt.all_reduce %a over ["tp"] {maximum = false} : tensor<f32> -> tensor<f32>
      %n = rt.launch @keep(%s, %r) {count = 1 : i64, grain = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
      rt.yield %n : tensor<f32>
    }
    return %l : tensor<f32>
  }
}

// -----

// Values that change places need one copy more than those that do not.
// CHECK-LABEL: func.func @step
// CHECK: ^bb0(%{{.*}}: i64, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
// CHECK: %[[T:.*]] = rt.copy %[[A]]
// CHECK: %[[U:.*]] = rt.copy %[[B]]
// CHECK: %[[V:.*]] = rt.copy %[[T]]
// CHECK: rt.yield %[[U]], %[[V]]
module {
  func.func private @sum(tensor<4xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %x = rt.zero : tensor<4xf32>
    %y = rt.zero : tensor<4xf32>
    %p, %q = rt.loop 3 init(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%i: i64, %a: tensor<4xf32>, %b: tensor<4xf32>):
      rt.yield %b, %a : tensor<4xf32>, tensor<4xf32>
    }
    %s = rt.launch @sum(%p) {count = 4 : i64, grain = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// A kept value that is overwritten is kept as a copy.
// CHECK-LABEL: func.func @step
// CHECK: %[[R:.*]] = rt.all_reduce
// CHECK-SAME: rt.keep = [{}]
// CHECK: rt.copy %[[R]] {rt.keep = [{global = tensor<f32>, name = "x"}]}
module {
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<f32>
    %r = rt.all_reduce %a over ["tp"] {maximum = false, rt.keep = [{name = "x", global = tensor<f32>}]}
        : tensor<f32> -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

// A kernel does not know the gaps between a slice's rows.
// CHECK-LABEL: func.func @step
// CHECK: %[[V:.*]] = rt.view
// CHECK: %[[C:.*]] = rt.copy %[[V]]
// CHECK: rt.launch @sum(%[[C]])
module {
  func.func private @sum(tensor<2x4x1x8xf32>) -> tensor<f32>
  func.func @step() -> (tensor<f32> {nn.role = "loss"}) {
    %a = rt.zero : tensor<2x4x3x1x8xf32>
    %v = rt.view %a {offset = 8 : i64, parts = 3 : i64} : tensor<2x4x3x1x8xf32> -> tensor<2x4x1x8xf32>
    %s = rt.launch @sum(%v) {count = 8 : i64, grain = 1 : i64} : (tensor<2x4x1x8xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}
