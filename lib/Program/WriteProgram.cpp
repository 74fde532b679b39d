//===- WriteProgram.cpp - programs to metadata ----------------------------===//

#include "tessera/Program/ProgramJson.h"
#include "tessera/program_fields.hpp"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

template <typename Record> static json::Value recordJson(const Record &record);
template <typename T> static json::Value valueOf(const T &value);
template <typename T> static json::Value valueOf(const std::optional<T> &value);
template <typename T> static json::Value valueOf(const std::vector<T> &values);
template <typename T>
static json::Value valueOf(const std::map<std::string, T> &values);

static json::Value valueOf(int64_t value) { return value; }
static json::Value valueOf(double value) { return value; }
static json::Value valueOf(bool value) { return value; }
static json::Value valueOf(const std::string &value) { return value; }
static json::Value valueOf(const std::array<int64_t, 3> &value) {
  return json::Array(value);
}
template <typename T> static json::Value valueOf(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return nameOf(value);
  else if constexpr (std::is_base_of_v<std::vector<Axis>, T>)
    return valueOf(static_cast<const std::vector<Axis> &>(value));
  else
    return recordJson(value);
}
template <typename T>
static json::Value valueOf(const std::optional<T> &value) {
  return valueOf(*value);
}
template <typename T> static json::Value valueOf(const std::vector<T> &values) {
  json::Array list;
  list.reserve(values.size());
  for (const T &value : values)
    list.push_back(valueOf(value));
  return list;
}
template <typename T>
static json::Value valueOf(const std::map<std::string, T> &values) {
  json::Object object;
  for (const auto &[key, value] : values)
    object[key] = valueOf(value);
  return object;
}

/// Returns whether a field has another value than the default.
template <typename T> static bool isSet(const T &value, const T &standard) {
  return value != standard;
}
template <typename T>
static bool isSet(const std::optional<T> &value, const std::optional<T> &) {
  return value.has_value();
}
template <typename T>
static bool isSet(const std::vector<T> &value, const std::vector<T> &) {
  return !value.empty();
}
template <typename T>
static bool isSet(const std::map<std::string, T> &value,
                  const std::map<std::string, T> &) {
  return !value.empty();
}

static bool isOfGroup(const Call &call) { return !call.axes.empty(); }
template <typename Record> static bool isOfGroup(const Record &) {
  return false;
}

template <ProgramField::Presence presence, typename Record, typename T>
static bool isWritten(const Record &from, const T &value, const T &standard) {
  if constexpr (presence == ProgramField::Always)
    return true;
  else
    return (presence == ProgramField::InGroup && isOfGroup(from)) ||
           isSet(value, standard);
}

/// Passes on the keys of a record, in their order, with the values to write.
template <typename Record, typename Put>
static void forFields(const Record &from, Put put) {
  static const Record standard = {};
#define TSR_PROGRAM_FIELD(RECORD, FIELD, KEY, LOW, HIGH, PRESENCE)             \
  if constexpr (std::is_same_v<Record, program::RECORD>)                       \
    if (isWritten<ProgramField::PRESENCE>(from, from.FIELD, standard.FIELD))   \
      put(KEY, valueOf(from.FIELD));
#include "tessera/program_fields.def"
#undef TSR_PROGRAM_FIELD
}

template <typename Record> static json::Value recordJson(const Record &record) {
  json::Object object;
  forFields(record, [&](StringRef key, json::Value value) {
    object[key] = std::move(value);
  });
  return object;
}

void program::writeCall(json::OStream &out, const Call &call) {
  forFields(call, [&](StringRef key, const json::Value &value) {
    out.attribute(key, value);
  });
}

json::Value program::toJson(const Mesh &mesh) { return valueOf(mesh); }
json::Value program::toJson(const Tensor &tensor) { return valueOf(tensor); }
json::Value program::toJson(const Pipeline &pipeline) {
  return valueOf(pipeline);
}
json::Value program::toJson(const std::vector<Task> &tasks) {
  return valueOf(tasks);
}
json::Value program::toJson(const OverStep &overStep) {
  return valueOf(overStep);
}
json::Value program::toJson(const Arena &arena) { return valueOf(arena); }
json::Value program::toJson(const Totals &totals) { return valueOf(totals); }
