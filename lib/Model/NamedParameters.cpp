//===- NamedParameters.cpp - the parameters of an option's names ----------===//

#include "lib/Model/NamedParameters.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Options/NamePattern.h"

using namespace mlir;
using namespace tessera;

FailureOr<SmallVector<unsigned>>
tessera::namedParameters(func::FuncOp func, StringRef flag,
                         ArrayRef<std::string> patterns) {
  NamePatterns given(patterns.begin(), patterns.end());
  std::vector<std::string> names;
  SmallVector<unsigned> found;
  for (unsigned k = 0; k < func.getNumArguments(); ++k) {
    auto name = func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
    if (!name)
      continue;
    names.push_back(name.str());
    if (matchesAny(given, names.back()))
      found.push_back(k);
  }
  std::string why = checkPatternsMatch(flag.str(), given, names);
  if (!why.empty())
    return func.emitError() << why;
  return found;
}
