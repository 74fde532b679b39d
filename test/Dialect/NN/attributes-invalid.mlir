// Each discardable attribute is of one kind and stands in one kind of place.
// RUN: tessera-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'nn.param' of argument #1 is 7 : i64; it must be a string of UTF-8 that is not empty}}
func.func @parameter_is_a_number(%x: tensor<4xf32>, %w: tensor<4xf32> {nn.param = 7}) {
  return
}

// -----

// expected-error @+1 {{'nn.param' of argument #0 is ""; it must be a string of UTF-8 that is not empty}}
func.func @parameter_without_a_name(%w: tensor<4xf32> {nn.param = ""}) {
  return
}

// -----

// expected-error @+1 {{'nn.data' of argument #0 is "\FF"; it must be a string of UTF-8 that is not empty}}
func.func @data_is_no_text(%w: tensor<4xf32> {nn.data = "\FF"}) {
  return
}

// -----

// expected-error @+1 {{'nn.role' of result #0 is unit; it must be a string of UTF-8 that is not empty}}
func.func @role_without_a_value(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.role}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'nn.frozen' of argument #0 is false; it must be without a value}}
func.func @frozen_is_false(%w: tensor<4xf32> {nn.param = "w", nn.frozen = false}) {
  return
}

// -----

// expected-error @+1 {{'nn.decay' of result #0 is an attribute of arguments of functions, not of results of functions}}
func.func @decay_of_a_result(%x: tensor<4xf32>) -> (tensor<4xf32> {nn.decay}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'nn.frosen' of argument #0 is no attribute of the dialect 'nn'; did you mean 'nn.frozen'?}}
func.func @misspelt(%w: tensor<4xf32> {nn.frosen}) {
  return
}

// -----

// expected-error @+1 {{'nn.temperature' is no attribute of the dialect 'nn'; remove it, or give it a name of another dialect}}
func.func @unknown() attributes {nn.temperature = 1.0} {
  return
}

// -----

// expected-error @+1 {{'nn.dims' of argument #0 is "a-b"; it must be a string of letters}}
func.func @dims_are_no_letters(%w: tensor<4x4x4xf32> {nn.dims = "a-b"}) {
  return
}

// -----

// expected-error @+1 {{'nn.init' of argument #0 is {std = 1.000000e+00 : f64}; it must be a dictionary with the string 'kind'}}
func.func @init_without_a_kind(%w: tensor<4xf32> {nn.init = {std = 1.0}}) {
  return
}

// -----

// expected-error @+1 {{'nn.init' of argument #0 is {kind = "normal", std = 0x7FF8000000000000 : f64}}}
func.func @init_of_nan(%w: tensor<4xf32> {nn.init = {kind = "normal", std = 0x7FF8000000000000 : f64}}) {
  return
}

// -----

// expected-error @+1 {{'nn.file_shape' of argument #0 is [4611686018427387904, 4]; it must be an array of positive i64, whose product is one}}
func.func @file_shape_overflows(%w: tensor<4xf32> {nn.file_shape = [4611686018427387904, 4]}) {
  return
}

// -----

// expected-error @+1 {{'nn.channels' of argument #0 is array<i64: 1, 1>; it must be array<i64: ...> of dimensions in ascending order}}
func.func @channels_twice(%w: tensor<4xf32> {nn.channels = array<i64: 1, 1>}) {
  return
}

// -----

func.func @gradient_of_no_tensor(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.gradient_of' is 1 : i64; it must be the name of a parameter, on an op whose first operand is a tensor}}
  %y = nn.map exp %x {nn.gradient_of = 1} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @formula(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.formula' is {of = "gelu"}; it must be without a value or {of = "name", results = number : i64}}}
  %y = nn.map exp %x {nn.formula = {of = "gelu"}} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'nn.model' is {layers = -1 : i64}; it must be a dictionary of strings, arrays and i64 from 0 to 2147483647}}
module attributes {nn.model = {layers = -1}} {
}

// -----

// expected-error @+1 {{'nn.generation' is "train"; it must be "decode", "mixed", "score" or "encode"}}
func.func @generation() attributes {nn.generation = "train"} {
  return
}

// -----

// expected-error @+1 {{'nn.evaluation' is an attribute of functions, not of modules}}
module attributes {nn.evaluation} {
}
