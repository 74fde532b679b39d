// RUN: tessera-opt %s --convert-kernel-to-nvvm --verify-diagnostics

#full = affine_map<(d0, d1) -> (d0, d1)>

func.func private @exponential(%x: tensor<6x100xf64>) -> tensor<6x100xf64> attributes {rt.schedule = "row"} {
  %plane = tensor.empty() : tensor<6x100xf64>
  %y = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x100xf64>) outs(%plane : tensor<6x100xf64>) {
  ^bb0(%a: f64, %o: f64):
    // expected-error @+1 {{computes a function in f64, which PTX does not have; use f32 or bf16, or the CPU}}
    %e = math.exp %a : f64
    linalg.yield %e : f64
  } -> tensor<6x100xf64>
  return %y : tensor<6x100xf64>
}
