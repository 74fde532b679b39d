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

// A CUDA kernel has the GPU's power of two, lane by lane, and its maxima.
// CHECK-LABEL: @on_gpu
// CHECK-SAME: nvvm.kernel
// CHECK-DAG: llvm.intr.maximum
// CHECK-DAG: llvm.intr.minimum
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: arith.mulf
// CHECK: llvm.intr.maximum{{.*}} : (vector<2xf32>
// CHECK-NOT: arith.select
llvm.func @on_gpu(%x: vector<2xf32>, %z: vector<2xf32>) -> vector<2xf32> attributes {nvvm.kernel} {
  %y = math.exp %x : vector<2xf32>
  %m = arith.maximumf %y, %z : vector<2xf32>
  llvm.return %m : vector<2xf32>
}

// f64 has no such instructions.
// CHECK-LABEL: @double_on_gpu
// CHECK: arith.select
// CHECK-NOT: llvm.intr.maximum
llvm.func @double_on_gpu(%x: f64, %z: f64) -> f64 attributes {nvvm.kernel} {
  %m = arith.maximumf %x, %z : f64
  llvm.return %m : f64
}

// CHECK-LABEL: @round_on_gpu
// CHECK: llvm.fptrunc {{.*}} : vector<2xf32> to vector<2xbf16>
llvm.func @round_on_gpu(%x: vector<2xf32>) -> vector<2xbf16> attributes {nvvm.kernel} {
  %y = arith.truncf %x : vector<2xf32> to vector<2xbf16>
  llvm.return %y : vector<2xbf16>
}
