// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'rt.offset' of argument #0 is -64 : i64; it must be an i64 that is not negative}}
func.func @offset(%x: tensor<4xf32> {rt.offset = -64}) {
  return
}

// -----

// expected-error @+1 {{'rt.global' of argument #0 is tensor<?xf32>; it must be a tensor type of static shape}}
func.func @global(%x: tensor<4xf32> {rt.global = tensor<?xf32>}) {
  return
}

// -----

func.func @keep() {
  // expected-error @+1 {{'rt.keep' is [7]; it must be an array of {name = "name", global = type}}}
  %a = rt.zero {rt.keep = [7]} : tensor<8xf32>
  return
}

// -----

func.func @role() {
  // expected-error @+1 {{'rt.role' is [{nn.param = 7 : i64}]; it must be an array of {nn.role = "role", nn.param = "name"}}}
  %a = rt.zero {rt.role = [{nn.param = 7}]} : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{'rt.stage' is 1 : i32; it must be an i64 that counts stages from 0}}
func.func @step_0() attributes {rt.stage = 1 : i32} {
  return
}

// -----

// expected-error @+1 {{'rt.order' is array<i64: 0>; it must be array<i64: task, micro-batch, ...> of numbers up to 2147483647}}
func.func @order() attributes {rt.order = array<i64: 0>} {
  return
}

// -----

// expected-error @+1 {{'rt.order' is array<i64: 9223372036854775807, 0>; it must be array<i64: task, micro-batch, ...> of numbers up to 2147483647}}
func.func @order() attributes {rt.order = array<i64: 9223372036854775807, 0>} {
  return
}

// -----

// expected-error @+1 {{'rt.frames' is [array<i64: -1>]; it must be an array of array<i64: offset, ...>}}
func.func @frames() attributes {rt.frames = [array<i64: -1>]} {
  return
}

// -----

// expected-error @+1 {{'rt.may_share' is [array<i64: 0>]; it must be an array of array<i64: argument, result>}}
func.func private @kernel() attributes {rt.may_share = [array<i64: 0>]}

// -----

// expected-error @+1 {{'rt.arena_by_kind' is {weights = "x"}; it must be a dictionary of i64 that are not negative}}
module attributes {rt.arena_by_kind = {weights = "x"}} {
}

// -----

// expected-error @+1 {{'rt.options' is {beta1 = 0x7FF8000000000000 : f64}; it must be a dictionary of numbers, strings, arrays and dictionaries}}
module attributes {rt.options = {beta1 = 0x7FF8000000000000 : f64}} {
}

// -----

// expected-error @+1 {{is a kernel, which must have one block}}
func.func private @kernel(%x: tensor<4xf32>) attributes {rt.schedule = "row"} {
  cf.br ^next
^next:
  return
}
