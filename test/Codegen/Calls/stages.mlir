// A rank runs the program of its stage; messages are calls with the axis, the peer's coordinate, bytes, and whether they run beside the program.
// RUN: tessera-opt --convert-rt-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @tsr_stage_0
// CHECK: llvm.mlir.addressof @tsr_calls_0
// CHECK-LABEL: llvm.func internal @tsr_stage_1
// CHECK: llvm.mlir.addressof @tsr_calls_1
// CHECK: @tsr_arguments(dense<[1, 1, 32, 0, 1, 0, 32, 0]>
// CHECK-LABEL: llvm.func @tsr_program_step
// CHECK: %[[STAGE:.*]] = llvm.load %{{.*}} -> i64
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.icmp "eq" %[[STAGE]], %[[ZERO]]
// CHECK: llvm.call @tsr_stage_0
// CHECK: llvm.call @tsr_stage_1
module attributes {dist.mesh = #dist.mesh<dp = 2, pp = 2>} {
  func.func @step_0(%x: tensor<8xf32> {nn.param = "x", rt.offset = 0 : i64}) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    %y = rt.receive from 0 on "pp" {rt.offsets = array<i64: 64>} : tensor<8xf32>
    return
  }
}
