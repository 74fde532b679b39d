//===- Widen.cpp - a program in f64 ---------------------------------------===//

#include "lib/Import/Widen.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

void tessera::widenToF64(ModuleOp module) {
  AttrTypeReplacer replacer;
  Type wide = Float64Type::get(module.getContext());
  replacer.addReplacement([=](FloatType) { return wide; });
  // A number is not an element: it keeps the type that its attribute asks for.
  replacer.addReplacement([](FloatAttr number) {
    return std::make_pair(Attribute(number), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
