//===- ReadProgram.cpp - programs from metadata ---------------------------===//

#include "lib/Program/CheckProgram.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/program_fields.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

namespace {

/// Reads values into fields, and knows where it is for errors.
class FieldReader {
public:
  template <typename Record> Error read(const json::Object &object, Record &to);
  /// Begins the path of errors: "ops[3]".
  void enter(std::string name) { path.push_back(std::move(name)); }

private:
  Error refuse(const Twine &why) const {
    return createStringError("'" + join(path, ".") + "' " + why);
  }

  Error value(const json::Value &from, const ProgramField &field, int64_t &to);
  Error value(const json::Value &from, const ProgramField &, double &to);
  Error value(const json::Value &from, const ProgramField &, bool &to);
  Error value(const json::Value &from, const ProgramField &, std::string &to);
  Error value(const json::Value &from, const ProgramField &, json::Object &to);
  Error value(const json::Value &from, const ProgramField &field,
              std::array<int64_t, 3> &to);
  template <typename T>
  Error value(const json::Value &from, const ProgramField &field,
              std::optional<T> &to);
  template <typename T>
  Error value(const json::Value &from, const ProgramField &field,
              std::vector<T> &to);
  template <typename T>
  Error value(const json::Value &from, const ProgramField &field,
              std::map<std::string, T> &to);
  /// Reads an enum by its names, or a record.
  template <typename T>
  Error value(const json::Value &from, const ProgramField &field, T &to);

  std::vector<std::string> path;
};

} // namespace

Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         int64_t &to) {
  std::optional<int64_t> number = from.getAsInteger();
  if (!number)
    return refuse("is no integer");
  if (*number < field.low || *number > field.high)
    return refuse(formatv("is {0}, must be in [{1}, {2}]", *number, field.low,
                          field.high));
  to = *number;
  return Error::success();
}

Error FieldReader::value(const json::Value &from, const ProgramField &,
                         double &to) {
  std::optional<double> number = from.getAsNumber();
  to = number.value_or(0);
  return number ? Error::success() : refuse("is no number");
}

Error FieldReader::value(const json::Value &from, const ProgramField &,
                         bool &to) {
  std::optional<bool> flag = from.getAsBoolean();
  to = flag.value_or(false);
  return flag ? Error::success() : refuse("is neither true nor false");
}

Error FieldReader::value(const json::Value &from, const ProgramField &,
                         std::string &to) {
  std::optional<StringRef> text = from.getAsString();
  to = text.value_or("").str();
  return text ? Error::success() : refuse("is no text");
}

Error FieldReader::value(const json::Value &from, const ProgramField &,
                         json::Object &to) {
  if (!from.getAsObject())
    return refuse("is no object");
  to = *from.getAsObject();
  return Error::success();
}

Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         std::array<int64_t, 3> &to) {
  std::vector<int64_t> numbers;
  if (Error error = value(from, field, numbers))
    return error;
  if (numbers.size() != to.size())
    return refuse(
        formatv("has {0} numbers, must have {1}", numbers.size(), to.size()));
  llvm::copy(numbers, to.begin());
  return Error::success();
}

template <typename T>
Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         std::optional<T> &to) {
  return value(from, field, to.emplace());
}

template <typename T>
Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         std::vector<T> &to) {
  const json::Array *list = from.getAsArray();
  if (!list)
    return refuse("is no list");
  to.clear();
  to.reserve(list->size());
  std::string name = path.back();
  for (auto [number, entry] : enumerate(*list)) {
    path.back() = name + "[" + std::to_string(number) + "]";
    if (Error error = value(entry, field, to.emplace_back()))
      return error;
  }
  path.back() = name;
  return Error::success();
}

template <typename T>
Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         std::map<std::string, T> &to) {
  const json::Object *object = from.getAsObject();
  if (!object)
    return refuse("is no object");
  for (const auto &[key, entry] : *object) {
    path.push_back(key.str());
    if (Error error = value(entry, field, to[key.str()]))
      return error;
    path.pop_back();
  }
  return Error::success();
}

template <typename T>
Error FieldReader::value(const json::Value &from, const ProgramField &field,
                         T &to) {
  if constexpr (std::is_enum_v<T>) {
    std::optional<StringRef> name = from.getAsString();
    std::optional<T> known = fromName<T>(name.value_or("?").str());
    if (!known)
      return refuse("must be one of " + listNames<T>("or", "'"));
    to = *known;
    return Error::success();
  } else if constexpr (std::is_base_of_v<std::vector<Axis>, T>) {
    return value<Axis>(from, field, static_cast<std::vector<Axis> &>(to));
  } else {
    const json::Object *object = from.getAsObject();
    return object ? read(*object, to) : refuse("is no object");
  }
}

template <typename Record>
Error FieldReader::read(const json::Object &object, Record &to) {
#define TSR_PROGRAM_FIELD(RECORD, FIELD, KEY, LOW, HIGH, PRESENCE)             \
  if constexpr (std::is_same_v<Record, program::RECORD>)                       \
    if (const json::Value *found = object.get(KEY)) {                          \
      path.push_back(KEY);                                                     \
      if (Error error =                                                        \
              value(*found, program_fields::RECORD::FIELD, to.FIELD))          \
        return error;                                                          \
      path.pop_back();                                                         \
    }
#include "tessera/program_fields.def"
#undef TSR_PROGRAM_FIELD
  return Error::success();
}

/// Calls of the programs beside the first one are dropped as well.
static Expected<json::Value> parseWithoutCalls(StringRef metadata) {
  return parseJson(
      metadata, json_kinds::metadata,
      {kCallsKey, [](size_t, json::Value) { return Error::success(); }});
}

Expected<Program> program::readProgram(StringRef metadata) {
  Expected<json::Value> root = parseWithoutCalls(metadata);
  if (!root)
    return root.takeError();
  if (!root->getAsObject())
    return createStringError("it is not a JSON object");
  Program program;
  if (Error error = FieldReader().read(*root->getAsObject(), program))
    return error;
  if (Error error = checkProgram(program))
    return error;
  program.layers = LayerModes::of(program.recompute);
  return program;
}

Expected<OverStep> program::readOverStep(StringRef text) {
  Expected<json::Value> root = parseJson(text, json_kinds::metadata);
  if (!root)
    return root.takeError();
  if (!root->getAsObject())
    return createStringError("it is not a JSON object");
  OverStep overStep;
  if (Error error = FieldReader().read(*root->getAsObject(), overStep))
    return error;
  return overStep;
}

/// Sets what follows from the program, and refuses calls that do not fit it.
static Error complete(Call &call, const Program &program) {
  classify(call);
  for (const std::string &name : call.axes) {
    auto found = find_if(program.mesh,
                         [&](const Axis &axis) { return axis.name == name; });
    if (found == program.mesh.end())
      return createStringError("names '" + name + "', which is no axis");
    call.meshAxes.push_back(found - program.mesh.begin());
    if (is_contained(drop_end(call.meshAxes), call.meshAxes.back()))
      return createStringError("names axis '" + name + "' twice");
  }
  bool isMessage =
      call.kind == CallKind::Send || call.kind == CallKind::Receive;
  if (isMessage && call.meshAxes.size() != 1)
    return createStringError("is a message along %zu axes, must be along one",
                             call.meshAxes.size());
  if (call.peer && call.meshAxes.size() == 1 &&
      *call.peer >= program.mesh[call.meshAxes[0]].size)
    return createStringError(
        "has the peer %lld of an axis of size %lld",
        static_cast<long long>(*call.peer),
        static_cast<long long>(program.mesh[call.meshAxes[0]].size));
  if (call.stage.value_or(0) >= program.stages())
    return createStringError("is of a stage that does not exist");
  if (program.layers) {
    call.layerInProgram = program.layers->layerOf(call.name).value_or(-1);
    call.layerMode = program.layers->modeOf(call.name);
  }
  return Error::success();
}

Error program::readCalls(StringRef metadata, const Program &program,
                         function_ref<Error(Call &call)> take) {
  int64_t number = 0;
  auto takeEntry = [&](size_t depth, json::Value entry) -> Error {
    if (depth != 1)
      return Error::success();
    std::string name = formatv("{0}[{1}]", kCallsKey, number++);
    const json::Object *object = entry.getAsObject();
    if (!object)
      return createStringError("'" + name + "' is no object");
    Call call;
    FieldReader reader;
    reader.enter(name);
    if (Error error = reader.read(*object, call))
      return error;
    if (Error error = complete(call, program))
      return createStringError("'" + name + "' " + toString(std::move(error)));
    return take(call);
  };
  return parseJson(metadata, json_kinds::metadata, {kCallsKey, takeEntry})
      .takeError();
}
