//===- EntryCalls.h - the families of ops that are calls --------*- C++ -*-===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_ENTRYCALLS_H
#define TESSERA_LIB_CODEGEN_CALLS_ENTRYCALLS_H

#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

/// Attaches the interface to attention, ring_attention and their gradients; the
/// others do so for the ops that they name.
void attachAttentionCalls(mlir::MLIRContext &context);
/// launch, zero, copy.
void attachBufferCalls(mlir::MLIRContext &context);
/// append, cached_attention, merge_means.
void attachCacheCalls(mlir::MLIRContext &context);
/// all_reduce, all_gather, shift, wait, ...
void attachCollectiveCalls(mlir::MLIRContext &context);
/// send, receive.
void attachMessageCalls(mlir::MLIRContext &context);
/// gemm, scatter_add.
void attachProductCalls(mlir::MLIRContext &context);
/// Ops on rows of experts: routed, pack_rows, ...
void attachRoutedCalls(mlir::MLIRContext &context);
/// penalize, top, merge_top.
void attachSamplingCalls(mlir::MLIRContext &context);

/// The interface of an op whose call the function `describe` makes, of the op
/// and, if it takes it, the mesh.
template <typename OpTy, auto describe>
struct CallModel
    : EntryCallOpInterface::ExternalModel<CallModel<OpTy, describe>, OpTy> {
  mlir::FailureOr<RuntimeCall> describeCall(mlir::Operation *op,
                                            dist::MeshAttr mesh) const {
    if constexpr (std::is_invocable_v<decltype(describe), OpTy, dist::MeshAttr>)
      return describe(mlir::cast<OpTy>(op), mesh);
    else
      return describe(mlir::cast<OpTy>(op));
  }
};

template <typename OpTy, auto describe>
void attachCall(mlir::MLIRContext &context) {
  OpTy::template attachInterface<CallModel<OpTy, describe>>(context);
}

/// Writes what a model says about attention into the arguments of a call.
void addModelArguments(nn::AttentionAttr attention, RuntimeCall &call);

/// The type of a value that is a tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_ENTRYCALLS_H
