// Programs that wait for each other are refused, with the ranks and ops that wait.
// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-check-messages %s

// Both stages send first: with buffers it would work, until the messages are too large for them.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{ranks wait for each other: rank 0 in rt.send of h.0.mlp waits for rank 1; rank 1 in rt.send of h.1.mlp waits for rank 0}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32> loc("h.0.mlp")
    %y = rt.receive from 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1(%x: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    rt.send %x to 0 on "pp" : tensor<8xf32> loc("h.1.mlp")
    %y = rt.receive from 0 on "pp" : tensor<8xf32>
    return
  }
}

// -----

// One program for all ranks: each sends to rank 1, rank 1 to itself.
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  // expected-error @+1 {{rank 0 in rt.send waits for rank 1; rank 1 in rt.send waits for rank 1}}
  func.func @step(%x: tensor<8xf32>) {
    rt.send %x to 1 on "dp" : tensor<8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{rank 0 in rt.send passes 32 bytes, but rank 1 in rt.receive passes 16 bytes}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    %y = rt.receive from 0 on "pp" : tensor<4xf32>
    return
  }
}

// -----

// The bytes are as many, but of another micro-batch.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{rank 0 in rt.send passes 32 bytes (value 0 of micro-batch 1), but rank 1 in rt.receive passes 32 bytes (value 0 of micro-batch 0)}}
  func.func @step_0(%x: tensor<8xf32>, %z: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %z to 1 on "pp" {rt.message = "value 0 of micro-batch 1"} : tensor<8xf32>
    rt.send %x to 1 on "pp" {rt.message = "value 0 of micro-batch 0"} : tensor<8xf32>
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    %x = rt.receive from 0 on "pp" {rt.message = "value 0 of micro-batch 0"} : tensor<8xf32>
    %z = rt.receive from 0 on "pp" {rt.message = "value 0 of micro-batch 1"} : tensor<8xf32>
    return
  }
}

// -----

// A sum that one stage leaves out.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2>} {
  // expected-error @+1 {{rank 0 in rt.all_reduce waits for rank 1; rank 1 has ended}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    %s = rt.all_reduce %x over ["dp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
    %y = rt.all_reduce %s over ["pp"] {maximum = false} : tensor<8xf32> -> tensor<8xf32>
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32>
    %y = rt.receive from 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1(%x: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    %y = rt.receive from 0 on "pp" : tensor<8xf32>
    rt.send %x to 0 on "pp" : tensor<8xf32>
    return
  }
}

// -----

// Each calls on a thread of its own: they never meet.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{rank 0 in rt.send passes 32 bytes beside the program, but rank 1 in rt.receive passes 32 bytes}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    %sent = rt.send %x to 1 on "pp" async : tensor<8xf32> -> tensor<1xi8>
    %x1 = rt.wait %sent reading(%x : tensor<8xf32>) : tensor<1xi8> -> tensor<1xi8>
    return
  }
  func.func @step_1() attributes {rt.stage = 1 : i64} {
    %y = rt.receive from 0 on "pp" : tensor<8xf32>
    return
  }
}

// -----

// Started in another order, waits or not.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{ranks wait for each other: rank 0 in rt.send waits for rank 1; rank 1 in rt.send waits for rank 0}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    %sent = rt.send %x to 1 on "pp" async : tensor<8xf32> -> tensor<1xi8>
    %y = rt.receive from 1 on "pp" async : tensor<8xf32>
    %x1 = rt.wait %sent reading(%x : tensor<8xf32>) : tensor<1xi8> -> tensor<1xi8>
    %y1 = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
    return
  }
  func.func @step_1(%x: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    %sent = rt.send %x to 0 on "pp" async : tensor<8xf32> -> tensor<1xi8>
    %y = rt.receive from 0 on "pp" async : tensor<8xf32>
    %x1 = rt.wait %sent reading(%x : tensor<8xf32>) : tensor<1xi8> -> tensor<1xi8>
    %y1 = rt.wait %y : tensor<8xf32> -> tensor<8xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @step_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {rt.stage = 0 : i64} {
    // expected-error @+1 {{names rank 2 of axis 'pp', which has 2 ranks, from 0}}
    rt.send %x to 2 on "pp" : tensor<8xf32>
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{names a rank of axis 'pp', which the module's dist.mesh does not have}}
    %y = rt.receive from 0 on "pp" : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{is one of 1 programs of stages, but mesh axis 'pp' has 2 ranks}}
  func.func @step_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {rt.stage = 0 : i64} {
    return %x : tensor<8xf32>
  }
}
