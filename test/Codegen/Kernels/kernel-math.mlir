// f32 functions become arithmetic; those of f64 stay for libm; tanh + 1 needs one branch of tanh only.
// RUN: tessera-opt %s --expand-kernel-math | FileCheck %s

// CHECK-LABEL: @exp
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : vector<16xf32>
llvm.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// CHECK-LABEL: @double
// CHECK: math.exp {{.*}} : vector<8xf64>
llvm.func @double(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.exp %x : vector<8xf64>
  llvm.return %y : vector<8xf64>
}

// CHECK-LABEL: @tanh_plus_one
// CHECK: arith.divf
// CHECK-NOT: math.copysign
// CHECK: llvm.return
llvm.func @tanh_plus_one(%x: vector<16xf32>) -> vector<16xf32> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %t = math.tanh %x : vector<16xf32>
  %y = arith.addf %t, %one : vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// CHECK-LABEL: @tanh
// CHECK: math.copysign
llvm.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  llvm.return %y : f32
}
