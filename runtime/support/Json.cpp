#include "runtime/support/Json.h"

#include "runtime/support/Status.h"

namespace tessera {

using nlohmann::json;

void dismantle(json &value) noexcept {
  if (auto *array = value.get_ptr<json::array_t *>()) {
    for (json &item : *array)
      dismantle(item);
    array->clear();
  } else if (auto *object = value.get_ptr<json::object_t *>()) {
    for (auto &member : *object)
      dismantle(member.second);
    object->clear();
  }
}

std::string JsonView::where() const {
  return concat(source, ": '", path.empty() ? "the whole" : path, "'");
}

void JsonView::refuse(const std::string &what) const {
  fail(TSR_CORRUPT, where(), " ", what);
}

void JsonView::requireObject() const {
  if (!value->is_object())
    refuse(concat("must be an object, it is ", value->type_name()));
}

JsonView JsonView::at(const char *key) const {
  requireObject();
  auto it = value->find(key);
  JsonView child(*value, source);
  child.path = path.empty() ? key : path + "." + key;
  if (it == value->end())
    child.refuse("is missing");
  child.value = &*it;
  return child;
}

bool JsonView::has(const char *key) const {
  return value->is_object() && value->contains(key) &&
         !value->at(key).is_null();
}

std::vector<JsonView> JsonView::items() const {
  if (!value->is_array())
    refuse(concat("must be an array, it is ", value->type_name()));
  std::vector<JsonView> result;
  result.reserve(value->size());
  for (size_t i = 0; i < value->size(); ++i) {
    JsonView child((*value)[i], source);
    child.path = path + "[" + std::to_string(i) + "]";
    result.push_back(std::move(child));
  }
  return result;
}

int64_t JsonView::integer(int64_t low, int64_t high) const {
  bool isInteger = value->is_number_integer();
  bool tooLarge = value->is_number_unsigned() &&
                  value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!isInteger || tooLarge)
    refuse(concat("must be an integer, it is ", value->type_name()));
  int64_t number = value->get<int64_t>();
  if (number < low || number > high)
    refuse(concat("is ", number, ", must be in [", low, ", ", high, "]"));
  return number;
}

double JsonView::number() const {
  if (!value->is_number())
    refuse(concat("must be a number, it is ", value->type_name()));
  return value->get<double>();
}

bool JsonView::boolean() const {
  if (!value->is_boolean())
    refuse(concat("must be true or false, it is ", value->type_name()));
  return value->get<bool>();
}

const std::string &JsonView::text() const {
  if (!value->is_string())
    refuse(concat("must be a string, it is ", value->type_name()));
  return value->get_ref<const std::string &>();
}

std::vector<int64_t> JsonView::integers(int64_t low, int64_t high) const {
  std::vector<int64_t> result;
  for (const JsonView &item : items())
    result.push_back(item.integer(low, high));
  return result;
}

} // namespace tessera
