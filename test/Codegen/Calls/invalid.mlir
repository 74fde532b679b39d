// RUN: tessera-opt --split-input-file --verify-diagnostics --convert-rt-to-llvm %s

module {
  func.func private @kernel() -> tensor<8xf32>
  func.func @step() {
    // expected-error @below {{launches @kernel, which is no llvm.func; run convert-kernel-to-llvm first}}
    %x = rt.launch @kernel() {count = 8 : i64, grain = 1 : i64, rt.offsets = array<i64: 0>} : () -> tensor<8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @step() {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf32>
    // expected-error @below {{runs over axis 'tp', which the mesh does not have}}
    %b = rt.all_reduce %a over ["tp"] {maximum = false, rt.offsets = array<i64: 0>} : tensor<8xf32> -> tensor<8xf32>
    return
  }
}

// -----

module {
  func.func @step() {
    // expected-error @below {{names axis 'tp', which the mesh does not have}}
    %t = rt.coord "tp"
    return
  }
}

// -----

module {
  func.func @step() {
    // expected-error @below {{has no offset; run rt-plan-memory first}}
    %a = rt.zero : tensor<8xf32>
    return
  }
}

// -----

module {
  func.func @step() {
    %a = rt.zero {rt.offsets = array<i64: 0>} : tensor<8xf16>
    // expected-error @below {{has elements of 'f16'; the runtime knows f32, bf16, f64, i32 and i8}}
    %b = rt.all_reduce %a over [] {maximum = false, rt.offsets = array<i64: 0>} : tensor<8xf16> -> tensor<8xf16>
    return
  }
}

// -----

module {
  func.func @step() {
    // expected-error @below {{'rt.offsets' is array<i64: -16>; it must be array<i64: ...> of numbers that are not negative}}
    %a = rt.zero {rt.offsets = array<i64: -16>} : tensor<8xf32>
    return
  }
}
