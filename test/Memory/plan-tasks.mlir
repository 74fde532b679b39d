// Values that cross tasks of a micro-batch lie in a frame, of which each micro-batch that is on its way has its own.
// Values that one task uses lie where its frames are free, or in an area that all tasks share.
// RUN: tessera-opt %s --rt-insert-copies --rt-plan-memory -o %t.planned
// RUN: FileCheck %s < %t.planned
// RUN: tessera-opt %t.planned --rt-check-memory -o /dev/null

// Micro-batches 0 and 1 are on their way at once, then 1 and 2, which takes the place of 0. (2 is the last; it is not
// of the loop.)
// CHECK: rt.frames = [array<i64: [[FIRST:[0-9]+]], [[SECOND:[0-9]+]]>]
// CHECK: rt.task 0 "F0"
// CHECK: rt.launch {{.*}}rt.offsets = array<i64: 1125899906842624>
// CHECK: rt.task 1 "B0"
// CHECK: rt.tasks_end

// A frame where that of the other micro-batch lies is another value's place.
// RUN: sed 's/rt.frames = \[array<i64: \([0-9]*\), [0-9]*>/rt.frames = [array<i64: \1, \1>/' %t.planned > %t.wrong
// RUN: not tessera-opt %t.wrong --rt-check-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: needs bytes {{.*}} in task B0 of micro-batch 0, which no longer hold what was put there
// WRONG: note: bytes {{.*}} are written here

// And so is one that is not of the arena, or that not every micro-batch has.
// RUN: sed 's/rt.frames = \[array<i64: [0-9]*, [0-9]*>/rt.frames = [array<i64: 64, 1048576>/' %t.planned > %t.far
// RUN: not tessera-opt %t.far --rt-check-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: has frame 1 of micro-batch 1 at bytes [1048576, 1048640) of an arena of {{[0-9]+}} bytes
// RUN: sed 's/rt.frames = \[array<i64: [0-9]*, [0-9]*>/rt.frames = [array<i64: 64>/' %t.planned > %t.few
// RUN: not tessera-opt %t.few --rt-check-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: has 1 offsets of frame 1 for 2 micro-batches

// A value that a task keeps for another may not lie where tasks write for themselves.
// RUN: sed 's/1125899906842624/64/' %t.planned > %t.shared
// RUN: not tessera-opt %t.shared --rt-check-memory -o /dev/null

!x = tensor<16xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1>} {
  func.func private @f(!x) -> !x
  func.func private @add(!x, !x) -> !x attributes {rt.may_share = [array<i64: 0, 0>]}
  func.func @step(%x: !x) -> !x attributes {rt.order = array<i64: 0, 0, 0, 1, 1, 0, 0, 2, 1, 1, 1, 2>} {
    %zero = rt.zero : !x
    %sum = rt.loop 2 init(%zero) : (!x) -> !x {
    ^bb0(%j: i64, %old: !x):
      rt.task 0 "F0"
      %a = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      rt.task 1 "B0"
      %b = rt.launch @f(%a) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
      %new = rt.launch @add(%old, %b) {count = 1 : i64, grain = 1 : i64} : (!x, !x) -> !x
      rt.yield %new : !x
    }
    rt.task 0 "F0"
    %c = rt.launch @f(%x) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    rt.task 1 "B0"
    %d = rt.launch @f(%c) {count = 1 : i64, grain = 1 : i64} : (!x) -> !x
    %all = rt.launch @add(%sum, %d) {count = 1 : i64, grain = 1 : i64} : (!x, !x) -> !x
    rt.tasks_end
    return %all : !x
  }
}
