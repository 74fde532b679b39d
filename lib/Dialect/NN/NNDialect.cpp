//===- NNDialect.cpp - the nn dialect -------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;

#include "tessera/Dialect/NN/NNDialect.cpp.inc"
#include "tessera/Dialect/NN/NNEnums.cpp.inc"
#define GET_OP_CLASSES
#include "tessera/Dialect/NN/NNOps.cpp.inc"

llvm::StringRef tessera::nn::partOf(Location location) {
  StringRef name;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

void NNDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/Dialect/NN/NNOps.cpp.inc"
      >();
}
