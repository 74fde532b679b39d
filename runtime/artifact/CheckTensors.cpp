//===- CheckTensors.cpp - do the tensors of an artifact fit together? -----===//
#include "runtime/artifact/CheckTensors.h"
#include "runtime/artifact/Sharding.h"
#include "runtime/support/DType.h"
#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

namespace {
/// State and caches live from step to step: they share no memory.
void checkApart(const JsonView &view, const Metadata &metadata, int64_t stage) {
  std::vector<const TensorInfo *> state;
  for (const TensorInfo &tensor : metadata.tensors)
    if ((isState(tensor.role) || isCache(tensor.role) ||
         tensor.role == Role::Scale) &&
        tensor.isAt(stage))
      state.push_back(&tensor);
  std::sort(state.begin(), state.end(), [&](auto *a, auto *b) {
    return a->offsetAt(stage) < b->offsetAt(stage);
  });
  for (size_t i = 1; i < state.size(); ++i)
    if (state[i - 1]->offsetAt(stage) + state[i - 1]->localBytes() >
        state[i]->offsetAt(stage))
      view.refuse(concat(state[i - 1]->describe(), " overlaps ",
                         state[i]->describe(), " in the arena"));
}

void checkState(const JsonView &view, const Metadata &metadata) {
  for (const TensorInfo &tensor : metadata.tensors) {
    if (!isState(tensor.role))
      continue;
    const TensorInfo *parameter = metadata.find(Role::Parameter, tensor.name);
    if (!parameter || parameter->shape != tensor.shape ||
        parameter->fileShape != tensor.fileShape)
      view.refuse(tensor.describe() + " has no parameter of its shape");
    if (!tensor.partial.empty())
      view.refuse(tensor.describe() + " is state and cannot be partial");
  }
  for (int64_t stage = 0; stage < metadata.mesh.stages(); ++stage)
    checkApart(view, metadata, stage);
}

/// Returns whether a scale has the dimensions of its parameter that it names,
/// each once and in order.
bool fitsChannels(const TensorInfo &scale, const TensorInfo &parameter) {
  if (scale.channels.size() != scale.shape.size())
    return false;
  int64_t next = 0;
  for (size_t k = 0; k < scale.channels.size(); ++k) {
    const int64_t dim = scale.channels[k];
    if (dim < next || dim >= static_cast<int64_t>(parameter.shape.size()) ||
        parameter.shape[dim] != scale.shape[k])
      return false;
    next = dim + 1;
  }
  return true;
}

/// Parameters of integers have scales, and nothing else has.
void checkScales(const JsonView &view, const Metadata &metadata) {
  for (const TensorInfo &tensor : metadata.tensors) {
    if (tensor.role == Role::Parameter && tensor.dtype == TSR_DTYPE_I8 &&
        !metadata.find(Role::Scale, tensor.name))
      view.refuse(tensor.describe() + " is i8 and has no scale");
    if (tensor.role != Role::Scale)
      continue;
    const TensorInfo *parameter = metadata.find(Role::Parameter, tensor.name);
    const bool isFloat =
        tensor.dtype == TSR_DTYPE_F32 || tensor.dtype == TSR_DTYPE_F64;
    if (!parameter || parameter->dtype != TSR_DTYPE_I8 || !isFloat ||
        !tensor.partial.empty() || !fitsChannels(tensor, *parameter))
      view.refuse(
          tensor.describe() +
          " must be f32 or f64, with the channels of a parameter of i8");
  }
}

void checkInput(const JsonView &view, const Metadata &metadata, Role role,
                const char *name, const std::vector<int64_t> &shape) {
  const TensorInfo *tensor = metadata.find(role, name);
  if (!tensor)
    return;
  bool isInteger = tensor->dtype == TSR_DTYPE_I32;
  if (tensor->shape != shape || isInteger == shape.empty())
    view.refuse(concat(tensor->describe(), " must be ",
                       shape.empty() ? "floating point " : "i32 ",
                       describeShape(shape), ", it is ",
                       dtypeName(tensor->dtype), " ",
                       describeShape(tensor->shape)));
}

void requireTensor(const JsonView &view, const Metadata &metadata, Role role,
                   const std::string &name, const std::vector<int64_t> &shape,
                   bool isInteger) {
  const TensorInfo *tensor = metadata.find(role, name);
  if (!tensor || tensor->shape != shape || !tensor->partial.empty() ||
      isInteger != (tensor->dtype == TSR_DTYPE_I32))
    view.refuse(concat("lacks ", roleName(role), " '", name, "' of ",
                       describeShape(shape)));
}

void requireTensor(const JsonView &view, const Metadata &metadata, Role role,
                   const std::string &name, const std::vector<int64_t> &shape) {
  requireTensor(view, metadata, role, name, shape, role == Role::Input);
}

void checkInputs(const JsonView &view, const Metadata &metadata) {
  const Model &model = metadata.model;
  std::vector<int64_t> tokens = {
      model.microBatches, model.batch / model.microBatches, model.sequence};
  if (model.predictions) // it has no micro-batches
    tokens = {model.batch, model.sequence};
  checkInput(view, metadata, Role::Input, "ids", tokens);
  checkInput(view, metadata, Role::Input, "token_types", tokens);
  checkInput(view, metadata, Role::Input, "segments", tokens);
  tokens.back() = model.labels();
  checkInput(view, metadata, Role::Input, "labels", tokens);
  checkInput(view, metadata, Role::Input, "decoder_ids", tokens);
  checkInput(view, metadata, Role::Input, "decoder_segments", tokens);
  for (const char *name : {"lr", "bias_correction1", "bias_correction2"})
    checkInput(view, metadata, Role::Input, name, {});
  for (const char *name : {"loss", "grad_norm", "applied", "evaluation_loss",
                           "evaluation_correct", "evaluation_count"})
    checkInput(view, metadata, Role::Output, name, {});
}

/// Returns whether the ranks that share the places of slots have as many each,
/// and together no more than they need for that.
bool dealsPlaces(const TensorInfo &cache, int64_t wanted) {
  const int64_t places = cache.shape[2], held = cache.localShape[2];
  return places >= wanted && places % held == 0 &&
         places - wanted < places / held;
}

/// Returns whether cross-attention reads the cache.
bool isOfSources(const TensorInfo &cache) {
  const std::string ending = ".source";
  return cache.name.size() > ending.size() &&
         cache.name.compare(cache.name.size() - ending.size(), ending.size(),
                            ending) == 0;
}

/// Slots are copied: a rank has all of those of its lanes.
void checkCaches(const JsonView &view, const Metadata &metadata,
                 const Generation &sizes) {
  for (const TensorInfo &cache : metadata.tensors) {
    if (!isCache(cache.role))
      continue;
    const int64_t places = isOfSources(cache) ? sizes.source : sizes.places;
    if ((cache.shape.size() != 5 || cache.shape[0] != sizes.lanes ||
         cache.shape[1] != sizes.slots || cache.localShape[1] != sizes.slots ||
         !dealsPlaces(cache, places) || !cache.partial.empty()))
      view.refuse(concat(cache.describe(), " must be [", sizes.lanes, ", ",
                         sizes.slots, ", ", places,
                         " or as many more as ranks that share these need, key "
                         "heads, head size], whole in the second and equal on "
                         "all ranks in the third, it is ",
                         describeShape(cache.shape), ", a rank has ",
                         describeShape(cache.localShape)));
  }
}

/// Checks what a program for generation has in the place of logits.
void checkCandidates(const JsonView &view, const Metadata &metadata,
                     const std::string &program) {
  const Generation &sizes = *metadata.model.generation;
  const int64_t lanes = sizes.lanes, slots = sizes.slots;
  if (sizes.candidates > metadata.model.vocabulary)
    view.refuse(concat("has ", sizes.candidates,
                       " candidates of a vocabulary "
                       "of ",
                       metadata.model.vocabulary));
  auto require = [&](Role role, const char *name,
                     const std::vector<int64_t> &shape) {
    requireTensor(view, metadata, role, program + name, shape);
  };
  require(Role::Input, "_tokens", {lanes, slots, sizes.places});
  require(Role::Input, "_draws", {lanes, slots, 3});
  for (const char *name : {"_penalties", "_sharpness"})
    requireTensor(view, metadata, Role::Input, program + name, {lanes, slots},
                  /*isInteger=*/false);
  require(Role::Output, "_candidates", {lanes, slots, sizes.candidates, 2});
  require(Role::Output, "_drawn", {lanes, slots, 1, 3});
  require(Role::Output, "_totals", {lanes, slots});
}

/// Checks the inputs, outputs and caches of programs for generation.
void checkGeneration(const JsonView &view, const Metadata &metadata) {
  if (!metadata.model.generation)
    return;
  const Generation &sizes = *metadata.model.generation;
  auto checkRows = [&](const std::string &program, int64_t rows) {
    for (const char *name : {"_ids", "_slots", "_positions"})
      requireTensor(view, metadata, Role::Input, program + name,
                    {sizes.lanes, rows});
    if (sizes.source)
      requireTensor(view, metadata, Role::Input,
                    program + (program == "encode" ? "_segments" : "_sources"),
                    {sizes.lanes, rows});
  };
  auto check = [&](const std::string &program, int64_t rows) {
    checkRows(program, rows);
    requireTensor(view, metadata, Role::Input, program + "_last",
                  {sizes.lanes, sizes.slots});
    if (sizes.candidates)
      checkCandidates(view, metadata, program);
    else
      requireTensor(view, metadata, Role::Output, program + "_logits",
                    {sizes.lanes, sizes.slots, metadata.model.vocabulary});
  };
  check("decode", sizes.slots);
  check("mixed", sizes.mixedRows());
  if (sizes.source && !metadata.model.decoder)
    view.refuse("has sources, but no token that begins their texts");
  if (sizes.source)
    checkRows("encode", sizes.source);
  if (metadata.hasScores()) {
    const std::vector<int64_t> rows = {sizes.lanes, sizes.mixedRows()};
    checkRows("score", sizes.mixedRows());
    requireTensor(view, metadata, Role::Input, "score_labels", rows);
    for (const char *name : {"score_log_probabilities", "score_label_ranks"})
      requireTensor(view, metadata, Role::Output, name, rows);
  }
  checkCaches(view, metadata, sizes);
}

/// Checks the inputs and outputs of a program that encodes.
void checkEncoding(const JsonView &view, const Metadata &metadata) {
  const Model &model = metadata.model;
  if (!model.predictions)
    return;
  const TensorInfo *hidden = metadata.find(Role::Output, "encode_hidden");
  const int64_t width =
      hidden && hidden->shape.size() == 3 ? hidden->shape[2] : 1;
  requireTensor(view, metadata, Role::Input, "ids",
                {model.batch, model.sequence});
  requireTensor(view, metadata, Role::Output, "encode_hidden",
                {model.batch, model.sequence, width});
  if (*model.predictions == 0)
    return;
  requireTensor(view, metadata, Role::Input, "positions",
                {model.batch, *model.predictions});
  requireTensor(view, metadata, Role::Output, "encode_logits",
                {model.batch, *model.predictions, model.vocabulary});
}

} // namespace

void checkTensors(const JsonView &view, const Metadata &metadata) {
  checkState(view, metadata);
  checkScales(view, metadata);
  checkInputs(view, metadata);
  checkGeneration(view, metadata);
  checkEncoding(view, metadata);
}

} // namespace tessera
