//===- RoutedTable.h - Which kernels a call runs ----------------*- C++ -*-===//
// The choice by kind and dtypes, and the order of launches. The launcher is a
// parameter: a stream on a GPU (RoutedKernels.cu), an emulator in tests.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDTABLE_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDTABLE_H

#include "runtime/cuda/experts/F32Product.h"
#include "runtime/cuda/experts/RoutedCall.h"
#include "runtime/cuda/experts/RoutedRows.h"
#include "runtime/cuda/experts/Routing.h"
#include "runtime/cuda/experts/RowMessages.h"
#include "runtime/cuda/experts/TensorCoreProduct.h"
#include "tessera/abi.h"

namespace tessera::cuda {

/// Weight: bf16, or i8, whose products have scales.
template <typename Weight, typename Out, Product P, typename Launcher>
typename Launcher::Status runTensorCores(const RoutedParams &p,
                                         const Launcher &on) {
  if (p.firstAligned && p.secondAligned)
    return on.template run<TensorCoreProduct<P, Out, true, Weight>>(p);
  return on.template run<TensorCoreProduct<P, Out, false, Weight>>(p);
}

template <typename In, typename Out, Product P, typename Launcher>
typename Launcher::Status runTiles(const RoutedParams &p, const Launcher &on) {
  constexpr bool isF32 = std::is_same_v<In, float>;
  if constexpr (P != Product::GradWeight)
    if (p.scales) {
      if constexpr (isF32)
        return on.template run<F32Product<P, int8_t>>(p);
      else
        return runTensorCores<int8_t, Out, P>(p, on);
    }
  if constexpr (isF32)
    return on.template run<F32Product<P>>(p);
  else
    return runTensorCores<uint16_t, Out, P>(p, on);
}

/// Finds the places of compact rows, which a call must know.
template <typename Launcher>
typename Launcher::Status placeRows(const RoutedParams &p, const Launcher &on) {
  using Status = typename Launcher::Status;
  const Status status = on.template run<CountRows>(p);
  return status == Status() ? on.template run<PlaceRows>(p) : status;
}

/// Lists or places first. Rows that are not routed become zero beside those
/// that are.
template <typename In, typename Out, typename Launcher>
typename Launcher::Status runProduct(const RoutedProblem &call,
                                     const RoutedParams &p,
                                     const Launcher &on) {
  using Status = typename Launcher::Status;
  Status status = p.starts ? placeRows(p, on) : on.template run<ListRows>(p);
  if (status != Status())
    return status;
  if (call.kind == TSR_ROUTED_PRODUCT_GRAD_WEIGHT)
    return runTiles<In, Out, Product::GradWeight>(p, on);
  status = p.starts ? on.template run<ZeroRest>(restOf(call, p))
                    : on.template run<ZeroUnrouted>(unroutedOf(call));
  if (status != Status())
    return status;
  return call.transposed ? runTiles<In, Out, Product::Transposed>(p, on)
                         : runTiles<In, Out, Product::Plain>(p, on);
}

/// Between compact rows and messages, whatever the elements are.
template <typename Launcher>
typename Launcher::Status runMessages(const RoutedProblem &call,
                                      const RoutedParams &p,
                                      const Launcher &on) {
  using Status = typename Launcher::Status;
  const MessageParams m = messagesOf(call, p);
  Status status = on.template run<CountRows>(p);
  if (status == Status())
    status = on.template run<PlaceMessages>(m);
  if (status == Status() && call.kind == TSR_ROUTED_UNPACK && call.sent == 0)
    status = on.template run<ZeroRest>(
        RestRows{m.routed, m.rows, m.to, m.rowHalves, m.aligned});
  return status == Status() ? on.template run<MoveRows>(m) : status;
}

template <typename Launcher>
typename Launcher::Status numberRounds(const RoutedParams &p,
                                       const Launcher &on) {
  using Status = typename Launcher::Status;
  const Status status = on.template run<CountRows>(p);
  return status == Status() ? on.template run<NumberRounds>(p) : status;
}

/// Launcher: `Status run<Kernel>(params)`, where Status() is success.
template <typename In, typename Out, typename Launcher>
typename Launcher::Status runRouted(const RoutedProblem &call,
                                    const RoutedParams &p, const Launcher &on) {
  using Status = typename Launcher::Status;
  Status status = Status();
  if (p.places)
    status = placeRows(p, on);
  if (status == Status() && p.places && call.kind == TSR_ROUTED_DISPATCH)
    status = on.template run<ZeroRest>(restOf(call, p));
  if (status != Status())
    return status;
  switch (call.kind) {
  case TSR_ROUTED_TOP_K:
    return on.template run<TopK<In>>(p);
  case TSR_ROUTED_DISPATCH:
    return on.template run<Dispatch<In, Out>>(p);
  case TSR_ROUTED_COLLECT:
    return on.template run<Collect<In, Out>>(p);
  case TSR_ROUTED_COLLECT_GRAD_GATES:
    return on.template run<CollectGradGates<In>>(p);
  case TSR_ROUTED_EXPAND:
    return on.template run<Expand<In, Out>>(p);
  default:
    return runProduct<In, Out>(call, p, on);
  }
}

/// Requires checkRouted(call) to be "". `taken`, if there is one, becomes the
/// number of rounds that a call of ROUNDS makes, if that is more.
template <typename Launcher>
typename Launcher::Status runRouted(const RoutedProblem &call, void *workspace,
                                    const Launcher &on, int *taken = nullptr) {
  RoutedParams p = makeRoutedParams(call, workspace);
  p.taken = taken;
  if (call.movesMessages())
    return runMessages(call, p, on);
  if (call.kind == TSR_ROUTED_ROUNDS)
    return numberRounds(p, on);
  const bool bf16In = call.dtypeIn == TSR_DTYPE_BF16;
  const bool bf16Out = call.dtypeOut == TSR_DTYPE_BF16;
  if (bf16In)
    return bf16Out ? runRouted<Bf16, Bf16>(call, p, on)
                   : runRouted<Bf16, float>(call, p, on);
  return bf16Out ? runRouted<float, Bf16>(call, p, on)
                 : runRouted<float, float>(call, p, on);
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDTABLE_H
