//===- RuntimeCall.cpp - one op as one call of the runtime ----------------===//

#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "lib/Codegen/Calls/EntryCalls.h"
#include "mlir/IR/Matchers.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

#include "tessera/Codegen/Calls/EntryCallOpInterface.cpp.inc"

CallArgument CallArgument::of(Value scalar) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  CallArgument argument;
  argument.source = Scalar;
  argument.scalar = scalar;
  return argument;
}

/// Returns how many arguments an entry has; a launch adds the scalars of its
/// kernel.
static int64_t argumentsOf(int entry) {
  static constexpr int64_t counts[] = {
      0,
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS) ARGUMENTS,
#include "tessera/abi_entries.def"
  };
  return counts[entry];
}

RuntimeCall::RuntimeCall(int entry)
    : entry(entry), arguments(argumentsOf(entry)) {}

void RuntimeCall::extendTo(int other) {
  entry = other;
  arguments.resize(argumentsOf(other));
}

FailureOr<int64_t> tessera::dtypeOf(Operation *op, Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isF32())
    return TSR_DTYPE_F32;
  if (type.isBF16())
    return TSR_DTYPE_BF16;
  if (type.isF64())
    return TSR_DTYPE_F64;
  if (type.isInteger(32))
    return TSR_DTYPE_I32;
  if (type.isInteger(8))
    return TSR_DTYPE_I8;
  return op->emitError() << "has elements of " << type
                         << "; the runtime knows f32, bf16, f64, i32 and i8";
}

FailureOr<RuntimeCall> tessera::describeCall(Operation *op,
                                             dist::MeshAttr mesh) {
  if (auto call = dyn_cast<EntryCallOpInterface>(op))
    return call.describeCall(mesh);
  return op->emitError() << "has no entry in the runtime";
}

void tessera::registerEntryCalls(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, rt::RTDialect *) {
    attachAttentionCalls(*context);
    attachBufferCalls(*context);
    attachCacheCalls(*context);
    attachCollectiveCalls(*context);
    attachMessageCalls(*context);
    attachProductCalls(*context);
    attachRoutedCalls(*context);
    attachSamplingCalls(*context);
  });
}
