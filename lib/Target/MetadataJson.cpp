//===- MetadataJson.cpp - the JSON part of an artifact --------------------===//

#include "tessera/Target/MetadataJson.h"
#include "lib/Target/DescribeTensor.h"
#include "lib/Target/ProgramReport.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Dialect/RT/OverStep.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Dialect/RT/TaskRuns.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Target/ArtifactLimits.h"
#include "tessera/program_fields.hpp"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

namespace {

class MetadataBuilder {
public:
  MetadataBuilder(ModuleOp module, ArrayRef<func::FuncOp> programs)
      : module(module), mesh(dist::meshOf(module)),
        groups(nn::groupPrograms(programs)), steps(groups.front()) {}

  FailureOr<std::string> build();

private:
  LogicalResult addProgram();
  LogicalResult addTensor(const TensorEntry &entry);
  void addOffset(program::Tensor &tensor, int64_t offset);
  bool isPipeline() const {
    return steps[0]->hasAttr(rt::RTDialect::kStageAttr);
  }
  LogicalResult addOptions(json::Object &metadata);
  LogicalResult addTasks(json::Object &described,
                         ArrayRef<func::FuncOp> programs);
  LogicalResult addArena(json::Object &metadata);
  std::vector<program::Totals> reportPrograms(ArrayRef<func::FuncOp> programs,
                                              std::string &ops);
  void addReports(json::Object &metadata);
  FailureOr<std::string> buildOther(ArrayRef<func::FuncOp> programs);
  void addStages(program::Totals &totals,
                 std::vector<program::Totals> stages) const;
  LogicalResult addArguments();
  LogicalResult addResults();
  LogicalResult addKept();

  ModuleOp module;
  dist::MeshAttr mesh;
  SmallVector<SmallVector<func::FuncOp>> groups;
  ArrayRef<func::FuncOp> steps; ///< The first group; others stand beside it.
  func::FuncOp step;            ///< The program being added, of this stage.
  size_t stage = 0;
  std::vector<program::Tensor> tensors;
  std::vector<RankedTensorType> globals; ///< Their types, by number.
  std::map<std::pair<std::string, std::string>, size_t> known;
  /// The list of calls, as text: a json::Object of each would be most of the
  /// compiler's memory.
  std::string ops;
};

LogicalResult MetadataBuilder::addTensor(const TensorEntry &entry) {
  auto local = cast<RankedTensorType>(entry.value.getType());
  RankedTensorType global = entry.global ? entry.global : local;
  SmallVector<int64_t> shape = mesh ? dist::localShape(global, mesh)
                                    : SmallVector<int64_t>(global.getShape());
  std::optional<int64_t> offset = rt::offsetOf(entry.value);
  auto fail = [&]() {
    return emitError(entry.value.getLoc())
           << entry.role << " '" << entry.name << "' ";
  };
  if (!offset)
    return fail() << "has no offset; run rt-plan-memory first";
  if (dtypeNameOf(local.getElementType()).empty())
    return fail() << "has elements of " << local.getElementType()
                  << "; artifacts know f32, bf16, f64, i32 and i8";
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (elements != local.getNumElements())
    return fail() << "has " << local.getNumElements() << " elements on a rank, "
                  << global << " means " << elements;
  auto [it, isNew] =
      known.insert({{entry.role.str(), entry.name.str()}, tensors.size()});
  if (isNew)
    globals.push_back(global);
  else if (globals[it->second] != global)
    return fail() << "is " << global << " here and " << globals[it->second]
                  << " in another program; ranks must agree";
  // rt-plan-memory left an evaluation's arguments where the step has them.
  if (!isNew && (isPipeline() || nn::isBeside(step)))
    return addOffset(tensors[it->second], *offset), success();
  tensors.push_back(describeTensor(entry, global, shape));
  addOffset(tensors.back(), *offset);
  return success();
}

/// A program with stages has an offset for each, -1 where the stage has no such
/// tensor.
void MetadataBuilder::addOffset(program::Tensor &tensor, int64_t offset) {
  if (!isPipeline()) {
    tensor.offset = offset;
    return;
  }
  if (tensor.offsets.empty())
    tensor.offsets.assign(steps.size(), -1);
  tensor.offsets[stage] = offset;
}

RankedTensorType globalType(Attribute attribute) {
  auto type = dyn_cast_or_null<TypeAttr>(attribute);
  return type ? dyn_cast<RankedTensorType>(type.getValue()) : nullptr;
}

/// Attributes of each parameter, by name.
llvm::DenseMap<Attribute, DictionaryAttr>
parameterAttributes(func::FuncOp step) {
  llvm::DenseMap<Attribute, DictionaryAttr> attributes;
  for (unsigned index = 0; index < step.getNumArguments(); ++index)
    if (Attribute name = step.getArgAttr(index, nn::NNDialect::kParamAttr))
      attributes[name] = step.getArgAttrDict(index);
  return attributes;
}

LogicalResult MetadataBuilder::addArguments() {
  auto parameters = parameterAttributes(step);
  for (BlockArgument argument : step.getArguments()) {
    DictionaryAttr attrs = step.getArgAttrDict(argument.getArgNumber());
    auto string = [&](StringRef name) {
      return attrs ? attrs.getAs<StringAttr>(name) : StringAttr();
    };
    TensorEntry entry{"input", "", argument, nullptr, attrs};
    if (attrs)
      entry.global = globalType(attrs.get(rt::RTDialect::kGlobalAttr));
    auto role = string(nn::NNDialect::kRoleAttr);
    if (attrs && attrs.get(nn::kChannelsAttr)) {
      entry.role = nn::kScaleRole;
      entry.name = string(nn::kScaleOfAttr);
    } else if (auto name = string(nn::NNDialect::kParamAttr)) {
      entry.role = "parameter";
      entry.name = name;
    } else if (auto of = string("nn.of"); of && role) {
      entry.role = role;
      entry.name = of;
      // Moments are stored in the shape of their parameter.
      entry.attributes = parameters.lookup(of);
    } else if (auto data = string(nn::NNDialect::kDataAttr)) {
      entry.name = data;
    } else if (auto table = string(nn::NNDialect::kTableAttr)) {
      entry.name = table;
    } else if (role) {
      entry.name = role;
    } else {
      return step.emitError()
             << "argument #" << argument.getArgNumber()
             << " is no parameter, moment, data, table or scalar";
    }
    if (failed(addTensor(entry)))
      return failure();
  }
  return success();
}

LogicalResult MetadataBuilder::addResults() {
  Operation *ret = step.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    auto role = step.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                     nn::NNDialect::kRoleAttr);
    bool isOutput = role && !nn::isGeneration(step) &&
                    !step.getResultAttr(operand.getOperandNumber(),
                                        nn::NNDialect::kParamAttr);
    auto global = globalType(step.getResultAttr(operand.getOperandNumber(),
                                                rt::RTDialect::kGlobalAttr));
    bool isLogits = nn::isGeneration(step) && global;
    if ((isOutput || nn::isEvaluation(step) || isLogits) &&
        failed(addTensor({"output", role, operand.get(), global, {}})))
      return failure();
  }
  return success();
}

/// Adds the values that rt.keep keeps until the end of the step, for `tessera
/// verify`.
LogicalResult MetadataBuilder::addKept() {
  WalkResult walk = step.getBody().walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      DictionaryAttr keep = rt::resultEntry(result, rt::RTDialect::kKeepAttr);
      auto name = keep ? keep.getAs<StringAttr>("name") : StringAttr();
      if (!name)
        continue;
      TensorEntry entry{"value", name, result, globalType(keep.get("global")),
                        {},      keep};
      DictionaryAttr role = rt::resultEntry(result, rt::RTDialect::kRoleAttr);
      auto param = role ? role.getAs<StringAttr>(nn::NNDialect::kParamAttr)
                        : StringAttr();
      if (param) {
        entry.role = "gradient";
        entry.name = param;
      }
      if (failed(addTensor(entry)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

program::Mesh meshOf(dist::MeshAttr mesh) {
  program::Mesh axes;
  if (mesh)
    for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes()))
      axes.push_back({axis.getValue().str(), size});
  return axes;
}

/// The calls of each part of a step: the number of the first, and of the one
/// after the last.
using CallRanges = std::vector<std::pair<int64_t, int64_t>>;

CallRanges callsOfParts(func::FuncOp step, const rt::TaskOrder &order) {
  int64_t calls = 0;
  CallRanges ranges(order.parts().size());
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    int64_t part = order.partOf(op);
    if (!isa<rt::RuntimeCallOpInterface>(op))
      return;
    if (part >= 0) {
      auto &[begin, end] = ranges[part];
      begin = end ? begin : calls;
      end = calls + 1;
    }
    ++calls;
  });
  for (size_t part = 1; part < ranges.size(); ++part)
    if (ranges[part].second == 0) // it makes no calls
      ranges[part].first = ranges[part].second = ranges[part - 1].second;
  return ranges;
}

std::vector<program::Task> tasksOf(const rt::TaskOrder &order,
                                   const CallRanges &ranges) {
  std::vector<program::Task> tasks;
  for (auto [part, range] : llvm::zip(order.parts(), ranges))
    tasks.push_back({range.first, range.second,
                     rt::TaskOp(part.begin).getName().str(), !part.inLoop});
  return tasks;
}

/// Writes for each run how often its tasks run, and the tasks.
json::Array orderJson(const rt::TaskOrder &order) {
  json::Array runs;
  for (const rt::TaskRun &run : rt::runsOf(order)) {
    json::Array numbers{run.times};
    for (int64_t part : run.parts)
      numbers.push_back(part);
    runs.push_back(std::move(numbers));
  }
  return runs;
}

/// Tasks by the calls that they make, counted in their program, and in which
/// order they run.
LogicalResult MetadataBuilder::addTasks(json::Object &described,
                                        ArrayRef<func::FuncOp> programs) {
  json::Array tasks, orders;
  for (func::FuncOp each : programs) {
    FailureOr<std::optional<rt::TaskOrder>> found = rt::TaskOrder::of(each);
    if (failed(found))
      return failure();
    if (!*found)
      return success();
    tasks.push_back(
        program::toJson(tasksOf(**found, callsOfParts(each, **found))));
    orders.push_back(orderJson(**found));
  }
  described[program_fields::Pipeline::tasks.key] = std::move(tasks);
  described[program_fields::Pipeline::order.key] = std::move(orders);
  return success();
}

/// Returns the values of a dictionary of JSON texts, which the verifier
/// checked.
json::Object valuesOf(DictionaryAttr keys) {
  json::Object values;
  for (NamedAttribute key : keys) {
    auto text = dyn_cast<StringAttr>(key.getValue());
    llvm::Expected<json::Value> value =
        parseJson(text ? text.getValue() : "null", json_kinds::config);
    if (value)
      values[key.getName().getValue()] = std::move(*value);
    else
      llvm::consumeError(value.takeError());
  }
  return values;
}

LogicalResult MetadataBuilder::addOptions(json::Object &metadata) {
  namespace keys = program_fields::Program;
  if (auto options = module->getAttrOfType<DictionaryAttr>(rt::kOptionsAttr))
    for (NamedAttribute entry : options)
      metadata[entry.getName().getValue()] = toJson(entry.getValue());
  metadata[keys::mesh.key] = program::toJson(meshOf(mesh));
  if (Attribute model = module->getAttr(nn::NNDialect::kModelAttr))
    metadata[keys::model.key] = toJson(model);
  if (Attribute files = module->getAttr(nn::kConfigFilesAttr))
    metadata[keys::configFiles.key] = toJson(files);
  for (auto [attribute, key] :
       {std::pair(nn::kModelKeysAttr, keys::modelKeys.key),
        std::pair(nn::kTrainingKeysAttr, keys::trainingKeys.key)})
    if (auto keys = module->getAttrOfType<DictionaryAttr>(attribute))
      metadata[key] = valuesOf(keys);
  auto pipeline =
      module->getAttrOfType<StringAttr>(rt::RTDialect::kPipelineAttr);
  if (!pipeline)
    return success();
  llvm::Expected<json::Value> parsed =
      parseJson(pipeline.getValue(), json_kinds::metadata);
  if (!parsed || !parsed->getAsObject()) {
    llvm::consumeError(parsed.takeError());
    return module.emitError() << "has a '" << rt::RTDialect::kPipelineAttr
                              << "' that is no JSON object";
  }
  metadata[keys::pipeline.key] = std::move(*parsed);
  auto messages =
      module->getAttrOfType<IntegerAttr>(rt::RTDialect::kMessagesAttr);
  json::Object &described = *metadata.getObject(keys::pipeline.key);
  if (messages)
    described[program_fields::Pipeline::messages.key] = messages.getInt();
  return addTasks(described, steps);
}

/// Returns the arena of a program.
FailureOr<program::Arena> arenaOf(func::FuncOp program) {
  Operation *owner = rt::arenaOwner(program);
  auto bytes = owner->getAttrOfType<IntegerAttr>(rt::RTDialect::kArenaAttr);
  auto kinds =
      owner->getAttrOfType<DictionaryAttr>(rt::RTDialect::kArenaByKindAttr);
  if (!bytes || !kinds)
    return program.emitError()
           << "has no memory plan; run rt-plan-memory first";
  if (failed(checkArena(program, bytes.getInt())))
    return failure();
  program::Arena arena;
  arena.bytes = bytes.getInt();
  for (NamedAttribute kind : kinds)
    arena.byKind[kind.getName().str()] =
        cast<IntegerAttr>(kind.getValue()).getInt();
  if (auto text = owner->getAttrOfType<StringAttr>(rt::kArenaOverStepAttr)) {
    llvm::Expected<program::OverStep> overStep =
        program::readOverStep(text.getValue());
    if (!overStep)
      return program.emitError()
             << "has a '" << rt::kArenaOverStepAttr << "' that cannot be read: "
             << llvm::toString(overStep.takeError());
    arena.overStep = std::move(*overStep);
  }
  return arena;
}

const program::Arena &larger(const program::Arena &a, const program::Arena &b) {
  return a.bytes < b.bytes ? b : a;
}

/// Writes the arena of the stage that needs most and, with stages, each one's.
/// It is of the program that needs more.
LogicalResult MetadataBuilder::addArena(json::Object &metadata) {
  std::vector<program::Arena> stages;
  for (size_t k = 0; k < steps.size(); ++k) {
    FailureOr<program::Arena> arena = arenaOf(steps[k]);
    if (failed(arena))
      return failure();
    for (ArrayRef<func::FuncOp> group : llvm::drop_begin(groups)) {
      FailureOr<program::Arena> other = arenaOf(group[k]);
      if (failed(other))
        return failure();
      arena = larger(*arena, *other);
    }
    stages.push_back(std::move(*arena));
  }
  program::Arena largest = stages.front();
  for (const program::Arena &stage : stages)
    largest = larger(largest, stage);
  if (isPipeline())
    largest.stages = std::move(stages);
  metadata[program_fields::Program::arena.key] = program::toJson(largest);
  return success();
}

LogicalResult MetadataBuilder::addProgram() {
  return success(succeeded(addArguments()) && succeeded(addResults()) &&
                 succeeded(addKept()));
}

void MetadataBuilder::addStages(program::Totals &totals,
                                std::vector<program::Totals> stages) const {
  totals.parameters = totals.tokens = 0;
  double flops = 0;
  for (const program::Tensor &tensor : tensors)
    if (tensor.role == "parameter")
      totals.parameters += tensor.elements();
  for (const program::Totals &stage : stages) {
    totals.tokens = std::max(totals.tokens, stage.tokens);
    flops += static_cast<double>(stage.flops);
  }
  totals.flops = static_cast<int64_t>(flops);
  totals.stages = std::move(stages);
}

/// Reports on each program of all stages, and lists all calls in `ops`.
std::vector<program::Totals>
MetadataBuilder::reportPrograms(ArrayRef<func::FuncOp> programs,
                                std::string &ops) {
  std::vector<program::Totals> reports(programs.size());
  std::vector<std::string> texts(programs.size());
  parallelFor(module.getContext(), 0, programs.size(), [&](size_t number) {
    reports[number] = reportProgram(
        programs[number], mesh,
        isPipeline() ? std::optional<int64_t>(number) : std::nullopt,
        texts[number]);
  });
  llvm::erase(texts, std::string());
  ops = "[" + llvm::join(texts, ",") + "]";
  return reports;
}

/// Sums of a stage's program are of the busiest stage; with stages also each
/// one's.
void MetadataBuilder::addReports(json::Object &metadata) {
  int64_t ranks = (mesh ? mesh.getRanks() : 1) / int64_t(steps.size());
  std::vector<program::Totals> reports = reportPrograms(steps, ops);
  for (auto [k, report] : llvm::enumerate(reports)) {
    SmallVector<func::FuncOp> ofStage;
    for (ArrayRef<func::FuncOp> programs : groups)
      ofStage.push_back(programs[k]);
    countParameters(ofStage, report);
    report.flops = report.flopsOfRank.all() * ranks;
  }
  program::Totals totals = *llvm::max_element(
      reports, [](const program::Totals &a, const program::Totals &b) {
        return a.flops < b.flops;
      });
  if (isPipeline())
    addStages(totals, std::move(reports));
  json::Value described = program::toJson(totals);
  if (auto extra = module->getAttrOfType<DictionaryAttr>(rt::kReportAttr))
    for (NamedAttribute entry : extra)
      (*described.getAsObject())[entry.getName().getValue()] =
          toJson(entry.getValue());
  metadata[program_fields::Program::totals.key] = std::move(described);
}

/// Writes entries in the order of keys, as a json::Object is printed; `texts`
/// are values that are JSON already.
std::string textOf(json::Object object,
                   ArrayRef<std::pair<StringRef, StringRef>> texts) {
  llvm::StringMap<StringRef> raw;
  for (auto &[key, text] : texts) {
    raw[key] = text;
    object[key] = nullptr;
  }
  SmallVector<std::pair<StringRef, json::Value *>> entries;
  for (auto &[key, value] : object)
    entries.push_back({key, &value});
  llvm::sort(entries, llvm::less_first());
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  out.object([&] {
    for (auto &[key, value] : entries) {
      out.attributeBegin(key);
      if (raw.contains(key))
        out.rawValue(raw.lookup(key));
      else
        out.value(*value);
      out.attributeEnd();
    }
  });
  return text;
}

/// Writes what a program beside the first one needs and does, and its calls,
/// which are numbered after those of the programs before.
FailureOr<std::string>
MetadataBuilder::buildOther(ArrayRef<func::FuncOp> programs) {
  int64_t bytes = 0, adds = 0, flops = 0;
  for (auto [step, program] : llvm::zip(steps, programs)) {
    FailureOr<program::Arena> own = arenaOf(program), other = arenaOf(step);
    if (failed(own) || failed(other))
      return failure();
    bytes = std::max(bytes, own->bytes);
    adds = std::max(adds, own->bytes - other->bytes);
  }
  std::string calls;
  for (const program::Totals &report : reportPrograms(programs, calls))
    flops = std::max(flops, report.flopsOfRank.all());
  namespace keys = program_fields::Beside;
  json::Object described{{keys::adds.key, adds},
                         {keys::bytes.key, bytes},
                         {keys::flopsOfRank.key, flops}};
  if (failed(addTasks(described, programs)))
    return failure();
  return textOf(std::move(described), {{kCallsKey, calls}});
}

/// Returns the key under which a program beside the first one is described.
StringRef keyOf(func::FuncOp program) {
  auto name = program->getAttrOfType<StringAttr>(nn::kGenerationAttr);
  return name ? name.getValue()
              : StringRef(program_fields::Program::evaluation.key);
}

FailureOr<std::string> MetadataBuilder::build() {
  namespace keys = program_fields::Program;
  json::Object metadata{{keys::format.key, 1},
                        {keys::producer.key, "tessera 0.1.0"}};
  if (failed(addOptions(metadata)) || failed(addArena(metadata)))
    return failure();
  for (ArrayRef<func::FuncOp> programs : groups) {
    stage = 0;
    for (func::FuncOp each : programs) {
      step = each;
      if (failed(addProgram()))
        return failure();
      ++stage;
    }
  }
  addReports(metadata);
  json::Array list;
  list.reserve(tensors.size());
  for (const program::Tensor &tensor : tensors)
    list.push_back(program::toJson(tensor));
  metadata[keys::tensors.key] = std::move(list);
  SmallVector<std::pair<StringRef, std::string>> others;
  for (ArrayRef<func::FuncOp> programs : llvm::drop_begin(groups)) {
    FailureOr<std::string> text = buildOther(programs);
    if (failed(text))
      return failure();
    others.push_back({keyOf(programs.front()), std::move(*text)});
  }
  SmallVector<std::pair<StringRef, StringRef>> texts = {{kCallsKey, ops}};
  llvm::append_range(texts, others);
  return textOf(std::move(metadata), texts);
}

} // namespace

FailureOr<std::string> tessera::buildMetadata(ModuleOp module,
                                              ArrayRef<func::FuncOp> programs) {
  return MetadataBuilder(module, programs).build();
}
