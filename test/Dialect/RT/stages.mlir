// Messages between stages, with and without a value to broadcast.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
func.func @messages(%x: tensor<8xf32>) {
  // CHECK: rt.send %{{.*}} to 1 on "pp" : tensor<8xf32>
  rt.send %x to 1 on "pp" : tensor<8xf32>
  // CHECK: rt.receive from 1 on "pp" : tensor<8xf32>
  %y = rt.receive from 1 on "pp" : tensor<8xf32>
  // CHECK: rt.send %{{.*}} to 1 on "pp" async : tensor<8xf32> -> tensor<1xi8>
  %sent = rt.send %x to 1 on "pp" async : tensor<8xf32> -> tensor<1xi8>
  %x1 = rt.wait %sent reading(%x : tensor<8xf32>) : tensor<1xi8> -> tensor<1xi8>
  // CHECK: rt.receive from 1 on "pp" async : tensor<8xf32>
  %got = rt.receive from 1 on "pp" async : tensor<8xf32>
  %y1 = rt.wait %got : tensor<8xf32> -> tensor<8xf32>
  // CHECK: rt.broadcast %{{.*}} : tensor<8xf32> from 0 over ["pp"] -> tensor<8xf32>
  %z = rt.broadcast %x : tensor<8xf32> from 0 over ["pp"] -> tensor<8xf32>
  // CHECK: rt.broadcast from 1 over ["pp"] -> tensor<8xf32>
  %w = rt.broadcast from 1 over ["pp"] -> tensor<8xf32>
  return
}
