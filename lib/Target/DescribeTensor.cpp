//===- DescribeTensor.cpp - named buffers of the arena --------------------===//

#include "lib/Target/DescribeTensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/program_fields.hpp"

using namespace mlir;
using namespace tessera;

StringRef tessera::dtypeNameOf(Type type) {
  return type.isF32()         ? "f32"
         : type.isBF16()      ? "bf16"
         : type.isF64()       ? "f64"
         : type.isInteger(32) ? "i32"
         : type.isInteger(8)  ? "i8"
                              : "";
}

/// Adds the axes that split a dimension, outermost first, and those that hold
/// partial sums.
static void addSharding(program::Tensor &tensor, RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    for (StringAttr axis : dist::axesOf(type, dim))
      tensor.sharding.push_back({axis.getValue().str(), dim});
  if (auto states = dyn_cast_or_null<dist::ShardingAttr>(type.getEncoding()))
    for (const dist::AxisState &state : states.getStates())
      if (state.state.kind == dist::State::P)
        tensor.partial.push_back(state.axis.getValue().str());
}

/// Returns a list of integers in either form that attributes have for them.
static std::vector<int64_t> integersOf(Attribute attribute) {
  if (auto dense = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return dense.asArrayRef().vec();
  std::vector<int64_t> integers;
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    for (auto each : list.getAsRange<IntegerAttr>())
      integers.push_back(each.getInt());
  return integers;
}

static std::optional<program::Initial> initialOf(Attribute attribute) {
  auto given = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!given)
    return std::nullopt;
  auto number = [&](StringRef key) -> std::optional<double> {
    if (auto value = given.getAs<FloatAttr>(key))
      return value.getValueAsDouble();
    auto whole = given.getAs<IntegerAttr>(key);
    return whole ? std::optional<double>(whole.getInt()) : std::nullopt;
  };
  program::Initial init;
  namespace keys = program_fields::Initial;
  if (auto kind = given.getAs<StringAttr>(keys::kind.key))
    init.kind = kind.getValue().str();
  init.mean = number(keys::mean.key);
  init.std = number(keys::std.key);
  init.bound = number(keys::bound.key);
  init.scale = number(keys::scale.key);
  if (auto stream = given.getAs<IntegerAttr>(keys::stream.key))
    init.stream = stream.getInt();
  init.zeros = integersOf(given.get(keys::zeros.key));
  if (auto list = given.getAs<ArrayAttr>(keys::frequencies.key))
    for (auto frequency : list.getAsRange<FloatAttr>())
      init.frequencies.push_back(frequency.getValueAsDouble());
  return init;
}

/// Notes where a kept value jumps or chooses.
static void addNotes(program::Tensor &tensor, DictionaryAttr keep) {
  namespace keys = program_fields::Kink;
  if (auto step =
          keep.getAs<DictionaryAttr>(program_fields::Tensor::kink.key)) {
    auto text = [&](StringRef key) {
      auto name = step.getAs<StringAttr>(key);
      return name ? name.getValue().str() : std::string();
    };
    tensor.kink = {text(keys::gradient.key), text(keys::input.key)};
  }
  if (auto logits = keep.getAs<StringAttr>(program_fields::Tensor::choice.key))
    tensor.choice = logits.getValue().str();
}

program::Tensor tessera::describeTensor(const TensorEntry &entry,
                                        RankedTensorType global,
                                        ArrayRef<int64_t> localShape) {
  program::Tensor tensor;
  tensor.role = entry.role.str();
  tensor.name = entry.name.str();
  tensor.dtype = dtypeNameOf(getElementTypeOrSelf(entry.value.getType())).str();
  tensor.shape = global.getShape().vec();
  tensor.localShape = localShape.vec();
  addSharding(tensor, global);
  auto integers = [&](StringRef name) {
    return integersOf(entry.attributes ? entry.attributes.get(name)
                                       : Attribute());
  };
  tensor.fileShape = integers(nn::NNDialect::kFileShapeAttr);
  if (entry.keep)
    addNotes(tensor, entry.keep);
  if (entry.attributes && (entry.role == "parameter" || entry.role == "input"))
    tensor.init = initialOf(entry.attributes.get(nn::NNDialect::kInitAttr));
  if (entry.role == nn::kScaleRole)
    tensor.channels = integers(nn::kChannelsAttr);
  tensor.frozen =
      entry.role == "parameter" && entry.attributes.get(nn::kFrozenAttr);
  return tensor;
}
