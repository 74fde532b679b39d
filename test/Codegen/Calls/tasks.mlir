// A task is a function of the micro-batch. A table says which tasks run how often, one after the other: the k-th time a
// task runs, it runs for micro-batch k. What crosses tasks lies where the frame of the micro-batch begins.
// RUN: tessera-opt --convert-rt-to-llvm --split-input-file %s | FileCheck %s

// Tasks 0, 0, 1, 2, 1, 3 for micro-batches 0, 1, 0, 2, 1, 2.
// CHECK: llvm.mlir.global internal constant @tsr_places(dense<[64, 128]> : tensor<2xi64>)
// CHECK: llvm.mlir.global internal constant @tsr_frames(dense<[0, 1]> : tensor<2xi8>)
// CHECK: llvm.func internal @tsr_task_0(%{{.*}}: !llvm.ptr, %[[J:.*]]: i64)
// CHECK: llvm.urem
// CHECK: %[[TURN:.*]] = llvm.select %{{.*}}, %[[J]], %{{.*}}
// CHECK: %[[FRAMES:.*]] = llvm.mlir.addressof @tsr_frames
// CHECK: %[[ROW:.*]] = llvm.getelementptr %[[FRAMES]][%{{.*}}] : {{.*}}, i8
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[ROW]][%[[TURN]]] : {{.*}}, i8
// CHECK: %[[LOADED:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[NUMBER:.*]] = llvm.zext %[[LOADED]]
// CHECK: %[[PLACES:.*]] = llvm.mlir.addressof @tsr_places
// CHECK: %[[OFFSET:.*]] = llvm.getelementptr %[[PLACES]][%[[NUMBER]]] : {{.*}}, i64
// CHECK: %[[BEGIN:.*]] = llvm.load %[[OFFSET]]
// CHECK: llvm.store %[[BEGIN]]
// CHECK: llvm.func internal @tsr_task_1(
// CHECK: llvm.func internal @tsr_task_2(
// CHECK-NOT: @tsr_frames
// CHECK: llvm.func internal @tsr_task_3(
// CHECK: @tsr_tasks() {{.*}} : !llvm.array<4 x ptr>
// CHECK: @tsr_runs(dense<[0, 6, 1]> : tensor<3xi64>)
// CHECK: @tsr_order(dense<[0, 0, 1, 2, 1, 3]> : tensor<6xi8>)
// CHECK-LABEL: llvm.func @tsr_program_step
// CHECK: llvm.mlir.addressof @tsr_runs
// CHECK: llvm.mlir.addressof @tsr_order
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

// -----

// Repetitions are there once: six times F0 and B0 of one micro-batch, then those of the last, which are other tasks.
// Three of the frames, which have two places in turn after the first micro-batch, are in the table.
// CHECK: @tsr_places(dense<[640, 64, 128]> : tensor<3xi64>)
// CHECK: @tsr_frames(dense<[0, 1, 2]> : tensor<3xi8>)
// CHECK: @tsr_runs(dense<[0, 2, 6, 2, 2, 1]> : tensor<6xi64>)
// CHECK: @tsr_order(dense<[0, 1, 2, 3]> : tensor<4xi8>)
!x = tensor<8xf32>
module attributes {dist.mesh = #dist.mesh<dp = 1>} {
  func.func @step() attributes {rt.frames = [array<i64: 640, 64, 128, 64, 128, 64>],
      rt.order = array<i64: 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2, 0, 3, 1, 3, 0, 4, 1, 4, 0, 5, 1, 5, 0, 6, 1, 6>} {
    rt.loop 6 init() : () -> () {
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
