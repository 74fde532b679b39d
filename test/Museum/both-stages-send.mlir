// Two pipeline stages send to each other first, and neither receives.
//
// Fault: receives were moved to where their value is used, so that both ranks of an
// interleaved schedule stood in a send whose receive came after the other's send. Swapping the
// order at one of the ranks moved the deadlock to the next pair of messages.
// Source: https://github.com/pytorch/pytorch/issues/172668
// Here: both ends of a message are emitted together, in one global order; rt-check-messages runs
// the emitted programs without buffers.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics --rt-check-messages

// rank 0: send F1, receive F0 of chunk 2; rank 1: send F0, receive F1.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{ranks wait for each other: rank 0 in rt.send of h.0 waits for rank 1; rank 1 in rt.send of h.1 waits for rank 0}}
  func.func @step_0(%f1: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %f1 to 1 on "pp" : tensor<8xf32> loc("h.0")
    %f0 = rt.receive from 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1(%f0: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    rt.send %f0 to 0 on "pp" : tensor<8xf32> loc("h.1")
    %f1 = rt.receive from 0 on "pp" : tensor<8xf32>
    return
  }
}

// -----

// The order of odd ranks swapped: the first pair passes, then rank 0 sends F2 while rank 1 sends back B0.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  // expected-error @+1 {{ranks wait for each other: rank 0 in rt.send of f2 waits for rank 1; rank 1 in rt.send of b0 waits for rank 0}}
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32> loc("f1")
    rt.send %x to 1 on "pp" : tensor<8xf32> loc("f2")
    %b0 = rt.receive from 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1(%x: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    %f1 = rt.receive from 0 on "pp" : tensor<8xf32>
    rt.send %x to 0 on "pp" : tensor<8xf32> loc("b0")
    %f2 = rt.receive from 0 on "pp" : tensor<8xf32>
    return
  }
}

// -----

// In one order for both.
module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @step_0(%x: tensor<8xf32>) attributes {rt.stage = 0 : i64} {
    rt.send %x to 1 on "pp" : tensor<8xf32>
    %b0 = rt.receive from 1 on "pp" : tensor<8xf32>
    rt.send %x to 1 on "pp" : tensor<8xf32>
    return
  }
  func.func @step_1(%x: tensor<8xf32>) attributes {rt.stage = 1 : i64} {
    %f1 = rt.receive from 0 on "pp" : tensor<8xf32>
    rt.send %x to 0 on "pp" : tensor<8xf32>
    %f2 = rt.receive from 0 on "pp" : tensor<8xf32>
    return
  }
}
