//===- ArgumentPlaces.cpp - where arguments of programs lie ---------------===//

#include "lib/Memory/ArgumentPlaces.h"
#include "lib/Memory/MemoryRules.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static func::FuncOp programOf(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Returns the name of an argument in every program that has it; one of its own
/// if nothing names it.
Attribute ArgumentPlaces::nameOf(BlockArgument argument) {
  func::FuncOp func = programOf(argument);
  unsigned index = argument.getArgNumber();
  Builder builder(func.getContext());
  SmallVector<NamedAttribute> name;
  for (StringRef key :
       {StringRef(nn::NNDialect::kParamAttr),
        StringRef(nn::NNDialect::kRoleAttr),
        StringRef(nn::NNDialect::kDataAttr),
        StringRef(nn::NNDialect::kTableAttr), StringRef("nn.of")})
    if (Attribute value = func.getArgAttr(index, key))
      name.push_back(builder.getNamedAttr(key, value));
  if (name.empty())
    name = {builder.getNamedAttr("program", func.getSymNameAttr()),
            builder.getNamedAttr("index", builder.getIndexAttr(index))};
  return builder.getDictionaryAttr(name);
}

/// Parameters come first, then moments, caches and inputs, each in order of the
/// programs and their arguments.
LogicalResult ArgumentPlaces::add(ArrayRef<func::FuncOp> programs) {
  for (BufferKind kind : {Weights, Optimizer, Caches, Inputs})
    for (func::FuncOp func : programs)
      for (BlockArgument argument : func.getArguments())
        if (kindOfArgument(func, argument.getArgNumber()) == kind &&
            failed(add(argument, kind)))
          return failure();
  return success();
}

LogicalResult ArgumentPlaces::add(BlockArgument argument, BufferKind kind) {
  auto [entry, isNew] =
      known.try_emplace(nameOf(argument), Known{argument, end});
  BlockArgument first = entry->second.argument;
  func::FuncOp func = programOf(argument);
  if (!isNew && first.getOwner() == argument.getOwner())
    return func.emitError()
           << "has arguments #" << first.getArgNumber() << " and #"
           << argument.getArgNumber() << " of one name";
  if (!isNew && first.getType() != argument.getType())
    return func.emitError()
           << "has argument #" << argument.getArgNumber() << " of type "
           << argument.getType() << ", which @" << programOf(first).getName()
           << " has as " << first.getType();
  if (!isNew)
    return success();
  int64_t bytes = llvm::alignTo(rt::bytesOf(argument), kAlignment);
  byKind[kind] += bytes;
  end += bytes;
  return success();
}
