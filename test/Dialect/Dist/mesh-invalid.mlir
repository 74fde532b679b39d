// RUN: tessera-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{mesh axis 'tp' has size 0; it must be at least 1}}
module @no_ranks attributes {dist.mesh = #dist.mesh<dp = 2, tp = 0>} {
}

// -----

// expected-error @+1 {{mesh axis 'tp' has size -2; it must be at least 1}}
module @negative attributes {dist.mesh = #dist.mesh<tp = -2>} {
}

// -----

// expected-error @+1 {{mesh axis 'tp' is named twice}}
module @twice attributes {dist.mesh = #dist.mesh<tp = 2, dp = 2, tp = 2>} {
}

// -----

// expected-error @+1 {{expected '='}}
module @no_size attributes {dist.mesh = #dist.mesh<tp>} {
}

// -----

// expected-error @+1 {{expected integer value}}
module @no_number attributes {dist.mesh = #dist.mesh<tp = two>} {
}

// -----

// expected-error @+1 {{mesh axis 'tp' of size 32769 makes more than 65536 ranks}}
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 32769>} {}
