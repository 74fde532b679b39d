// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @axis_is_a_string() {
  // expected-error @+1 {{expected attribute value}}
  %c = rt.coord tp
  return
}

// -----

func.func @stream_is_missing(%s: i64) {
  // expected-error @+1 {{expected attribute value}}
  %k = rt.stream_key %s, %s, %s
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @seed_is_narrow(%s: i32) {
  // expected-error @+1 {{use of value '%s' expects different type than prior uses: 'i64' vs 'i32'}}
  %k = rt.stream_key %s, %s, 3
  return
}

// -----

func.func @step_has_one_result() {
  // expected-error @+1 {{operation defines 1 results but was provided 2 to bind}}
  %a, %b = rt.step
  return
}
