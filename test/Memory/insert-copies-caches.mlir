// An append writes over its cache. Whoever reads the cache as it was before must do so earlier: a cache is not copied.
// RUN: tessera-opt --split-input-file --verify-diagnostics --rt-insert-copies %s | FileCheck %s

!cache = tensor<1x2x8x1x4xf32>
!rows = tensor<1x2x1x4xf32>
!data = tensor<1x2xi32>
module {
  // CHECK-LABEL: @decode
  // CHECK-NOT: rt.copy
  func.func @decode(%c: !cache {nn.role = "key_cache", nn.of = "0"}, %q: !rows {nn.data = "q"}, %s: !data {nn.data = "s"})
      -> (!cache {nn.role = "key_cache", nn.param = "0"}) attributes {nn.generation = "decode"} {
    %a = rt.append %q at %s, %s into %c {row = 4 : i64} : !rows, !data, !data, !cache -> !cache
    %o = rt.cached_attention %q, %a, %a at %s, %s <causal, scale = 1.0> {row = 4 : i64} : (!rows, !cache, !cache, !data, !data) -> !rows
    return %a : !cache
  }
}

// -----

!cache = tensor<1x2x8x1x4xf32>
!rows = tensor<1x2x1x4xf32>
!data = tensor<1x2xi32>
module {
  // expected-note @below {{the value is here}}
  func.func @decode(%c: !cache {nn.role = "key_cache", nn.of = "0"}, %q: !rows {nn.data = "q"}, %s: !data {nn.data = "s"})
      -> (!cache {nn.role = "key_cache", nn.param = "0"}) attributes {nn.generation = "decode"} {
    // expected-error @below {{operand #0 is written in place but read again later}}
    %a = rt.append %q at %s, %s into %c {row = 4 : i64} : !rows, !data, !data, !cache -> !cache
    %o = rt.cached_attention %q, %a, %c at %s, %s <causal, scale = 1.0> {row = 4 : i64} : (!rows, !cache, !cache, !data, !data) -> !rows
    return %a : !cache
  }
}
