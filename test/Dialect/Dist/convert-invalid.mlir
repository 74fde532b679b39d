// RUN: tessera-opt %s -split-input-file -verify-diagnostics

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @axis_is_not_in_the_mesh(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{converts on axis 'tp', which the module's dist.mesh does not have}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

func.func @there_is_no_mesh(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{converts on axis 'tp', which the module's dist.mesh does not have}}
  %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @partial_to_replicated(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // expected-error @+1 {{has no conversion P -> R on axis 'tp'; convert it to I first}}
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @nothing_changes(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+1 {{has no conversion R -> R on axis 'tp'; it changes nothing: remove it}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @same_shard(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{has no conversion S(0) -> S(0) on axis 'tp'; it changes nothing: remove it}}
    %y = dist.convert all_to_all %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @maxima_are_not_added(%x: tensor<8x4xf32, #dist<tp: M>>) {
    // expected-error @+1 {{has no conversion M -> P on axis 'tp'; convert it to I first}}
    %y = dist.convert all_reduce_max %x on "tp" : tensor<8x4xf32, #dist<tp: M>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @maxima_are_not_sliced(%x: tensor<8x4xf32, #dist<tp: M>>) {
    // expected-error @+1 {{has no conversion M -> S(0) on axis 'tp'; convert it to I first}}
    %y = dist.convert reduce_scatter %x on "tp" : tensor<8x4xf32, #dist<tp: M>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @maxima_come_from_max_only(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{has no conversion I -> M on axis 'tp'; only nn.max makes partial maxima}}
    %y = dist.convert replicated_to_partial %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: M>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @addends_to_a_stage(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // expected-error @+1 {{has no conversion P -> A(0) on axis 'tp'; only I, R and a value at another stage can go to a stage}}
    %y = dist.convert replicated_to_stage %x on "tp"
        : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32, #dist<tp: A(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @from_a_stage_to_shards(%x: tensor<8x4xf32, #dist<tp: A(0)>>) {
    // expected-error @+1 {{has no conversion A(0) -> S(0) on axis 'tp'; a value at a stage goes to P, I or another stage first}}
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32, #dist<tp: A(0)>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2>} {
  func.func @a_stage_that_is_not_there(%x: tensor<8x4xf32, #dist<pp: A(0)>>) {
    // expected-error @+1 {{is at stage 2 of axis 'pp', which has 2 stages, from 0}}
    %y = dist.convert send %x on "pp" : tensor<8x4xf32, #dist<pp: A(0)>> -> tensor<8x4xf32, #dist<pp: A(2)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @invariant_to_replicated_by_another_name(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{is called 'leave', but I -> R is 'enter'}}
    %y = dist.convert leave %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @partial_to_invariant_by_another_name(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // expected-error @+1 {{is called 'all_reduce_max', but P -> I is 'all_reduce'}}
    %y = dist.convert all_reduce_max %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @sharded_to_replicated_by_another_name(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{is called 'all_to_all', but S(0) -> R is 'all_gather'}}
    %y = dist.convert all_to_all %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @sharded_to_invariant_by_another_name(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{is called 'all_to_all', but S(0) -> I is 'all_gather'}}
    %y = dist.convert all_to_all %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @partial_to_sharded_by_another_name(%x: tensor<8x4xf32, #dist<tp: P>>) {
    // expected-error @+1 {{is called 'all_reduce', but P -> S(0) is 'reduce_scatter'}}
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4xf32, #dist<tp: P>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @invariant_to_sharded_by_another_name(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{is called 'enter', but I -> S(0) is 'all_slice'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @replicated_to_sharded_by_another_name(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+1 {{is called 'enter', but R -> S(0) is 'all_slice'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @sharded_to_partial_by_another_name(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{is called 'all_gather', but S(0) -> P is 'sharded_to_partial'}}
    %y = dist.convert all_gather %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @invariant_to_partial_by_another_name(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{is called 'enter', but I -> P is 'replicated_to_partial'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @replicated_to_partial_by_another_name(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+1 {{is called 'enter', but R -> P is 'replicated_to_partial'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @replicated_to_invariant_by_another_name(%x: tensor<8x4xf32, #dist<tp: R>>) {
    // expected-error @+1 {{is called 'enter', but R -> I is 'leave'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32, #dist<tp: R>> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @sharded_to_other_dimension_by_another_name(%x: tensor<8x4xf32, #dist<tp: S(0)>>) {
    // expected-error @+1 {{is called 'all_slice', but S(0) -> S(1) is 'all_to_all'}}
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32, #dist<tp: S(0)>> -> tensor<8x4xf32, #dist<tp: S(1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @maxima_to_invariant_by_another_name(%x: tensor<8x4xf32, #dist<tp: M>>) {
    // expected-error @+1 {{is called 'all_reduce', but M -> I is 'all_reduce_max'}}
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4xf32, #dist<tp: M>> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @means_are_not_added(%x: tensor<8x4xf32, #dist<tp: L>>) {
    // expected-error @+1 {{has no conversion L -> P on axis 'tp'; a partial mean goes to I or S first}}
    %y = dist.convert all_reduce_mean %x on "tp" : tensor<8x4xf32, #dist<tp: L>> -> tensor<8x4xf32, #dist<tp: P>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @no_conversion_makes_means(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{has no conversion I -> L on axis 'tp'; only nn.cached_attention makes partial means}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: L>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @no_conversion_makes_candidates(%x: tensor<8x4x2xf32>) {
    // expected-error @+1 {{has no conversion I -> C on axis 'tp'; only nn.top makes candidates}}
    %y = dist.convert enter %x on "tp" : tensor<8x4x2xf32> -> tensor<8x4x2xf32, #dist<tp: C>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @candidates_are_not_added(%x: tensor<8x4x2xf32, #dist<tp: C>>) {
    // expected-error @+1 {{is called 'all_reduce', but C -> I is 'all_reduce_top'}}
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4x2xf32, #dist<tp: C>> -> tensor<8x4x2xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @means_to_invariant_as_a_sum(%x: tensor<8x4xf32, #dist<tp: L>>) {
    // expected-error @+1 {{is called 'all_reduce', but L -> I is 'all_reduce_mean'}}
    %y = dist.convert all_reduce %x on "tp" : tensor<8x4xf32, #dist<tp: L>> -> tensor<8x4xf32>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @element_type_changes(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{changes more than axis 'tp': 'tensor<8x4xf32>' -> 'tensor<8x4xbf16, #dist<tp: R>>'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xbf16, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @shape_is_local(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{changes more than axis 'tp': 'tensor<8x4xf32>' -> 'tensor<4x4xf32, #dist<tp: S(0)>>'}}
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32> -> tensor<4x4xf32, #dist<tp: S(0)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @two_axes_at_once(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{changes more than axis 'tp'}}
    %y = dist.convert enter %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<dp: R, tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @outer_level_first(%x: tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>>) {
    // expected-error @+1 {{dimension 0 is not sharded at levels 0, 1, ...: convert the innermost axis first}}
    %y = dist.convert all_gather %x on "tp"
        : tensor<8x4xf32, #dist<dp: S(0:1), tp: S(0)>> -> tensor<8x4xf32, #dist<dp: S(0:1), tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @level_is_skipped(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{dimension 0 is not sharded at levels 0, 1, ...}}
    %y = dist.convert all_slice %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0:1)>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @axis_is_a_string(%x: tensor<8x4xf32>) {
    // expected-error @+1 {{expected attribute value}}
    %y = dist.convert enter %x on tp : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: R>>
    return
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @unknown_kind(%x: tensor<8x4xf32>) {
    // expected-error @+2 {{to be one of: enter, leave, all_reduce, all_gather, reduce_scatter, all_slice}}
    // expected-error @+1 {{failed to parse}}
    %y = dist.convert slice %x on "tp" : tensor<8x4xf32> -> tensor<8x4xf32, #dist<tp: S(0)>>
    return
  }
}
