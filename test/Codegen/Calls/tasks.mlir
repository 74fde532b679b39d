// A task is a function of the micro-batch, and a table says which runs for which. What crosses tasks lies where the
// frame of the micro-batch begins.
// RUN: tessera-opt --convert-rt-to-llvm %s | FileCheck %s

// An entry of the table is a task, and above 14 bits a micro-batch: (0, 0), (0, 1), (1, 0), (2, 2), (1, 1), (3, 2).
// CHECK: llvm.mlir.global internal constant @tsr_frames(dense<[64, 128]> : tensor<2xi64>)
// CHECK: llvm.func internal @tsr_task_0(%{{.*}}: !llvm.ptr, %[[J:.*]]: i64)
// CHECK: %[[FRAMES:.*]] = llvm.mlir.addressof @tsr_frames
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[FRAMES]][%[[J]]]
// CHECK: %[[BEGIN:.*]] = llvm.load %[[PLACE]]
// CHECK: llvm.store %[[BEGIN]]
// CHECK: llvm.func internal @tsr_task_1(
// CHECK: llvm.func internal @tsr_task_2(
// CHECK-NOT: @tsr_frames
// CHECK: llvm.func internal @tsr_task_3(
// CHECK: @tsr_order(dense<[0, 16384, 1, 32770, 16385, 32771]> : tensor<6xi32>)
// CHECK: @tsr_tasks() {{.*}} : !llvm.array<4 x ptr>
// CHECK-LABEL: llvm.func @tsr_program_step
// CHECK: llvm.mlir.addressof @tsr_order
// CHECK: llvm.and
// CHECK: llvm.lshr
// CHECK: llvm.mlir.addressof @tsr_tasks
// CHECK: llvm.call %{{.*}}(%{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64) -> i32
!x = tensor<8xf32>
module attributes {dist.mesh = #dist.mesh<dp = 1>} {
  func.func @step() attributes {rt.frames = [array<i64: 64, 128>],
      rt.order = array<i64: 0, 0, 0, 1, 1, 0, 0, 2, 1, 1, 1, 2>} {
    rt.loop 2 init() : () -> () {
    ^bb0(%j: i64):
      rt.task 0 "F0"
      %a = rt.zero {rt.offsets = array<i64: 1125899906842624>} : !x
      rt.task 1 "B0"
      %b = rt.copy %a {rt.offsets = array<i64: 0>} : !x -> !x
      rt.yield
    }
    rt.task 0 "F0"
    %c = rt.zero {rt.offsets = array<i64: 192>} : !x
    rt.task 1 "B0"
    %d = rt.copy %c {rt.offsets = array<i64: 0>} : !x -> !x
    rt.tasks_end
    return
  }
}
