// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a row stride needs a tensor of rows, of rank 2 or more, not of rank 1}}
func.func private @no_rows(tensor<8xf32, #rt.row_stride<8>>)

// -----

// expected-error @+1 {{a row stride of 7 is less than a row of 8 elements}}
func.func private @short(tensor<4x8xf32, #rt.row_stride<7>>)
