//===- ParseJson.cpp - JSON from outside as values ------------------------===//

#include "tessera/Json/ParseJson.h"
#include "tessera/Json/LfsPointer.h"
#include "tessera/json_reader.hpp"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;
using llvm::StringRef;
namespace json = llvm::json;

char JsonError::ID = 0;

void JsonError::log(llvm::raw_ostream &out) const {
  out << "line " << line << ", column " << column << ": " << what;
}

std::error_code JsonError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

namespace {

/// Builds values of what passes the limits.
class ValueBuilder {
public:
  /// A table with one key has 64 buckets of 64 bytes.
  static constexpr size_t kValuesOfObject = 32;

  void put(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX))
      add(static_cast<int64_t>(value));
    else
      add(value);
  }
  template <class T> void put(T value) { add(std::move(value)); }
  void openObject() { open.push_back({json::Object(), ""}); }
  void openArray() { open.push_back({json::Array(), ""}); }
  void close() {
    json::Value done = std::move(open.back().value);
    open.pop_back();
    add(std::move(done));
  }
  bool addKey(std::string &&name) {
    if (open.back().value.getAsObject()->get(name))
      return false;
    open.back().key = std::move(name);
    return true;
  }

  json::Value take() { return std::move(root); }

private:
  struct Container {
    json::Value value;
    std::string key; ///< The name of the member that comes next.
  };

  void add(json::Value value) {
    if (open.empty())
      root = std::move(value);
    else if (json::Array *array = open.back().value.getAsArray())
      array->push_back(std::move(value));
    else
      (*open.back().value.getAsObject())[std::move(open.back().key)] =
          std::move(value);
  }

  json::Value root = nullptr;
  llvm::SmallVector<Container, 8> open;
};

} // namespace

llvm::Expected<json::Value> tessera::parseJson(StringRef text,
                                               const JsonLimits &limits) {
  if (text.starts_with(kLfsPointerStart))
    return llvm::make_error<JsonError>(std::string("this ") + kIsLfsPointer, 1,
                                       1);
  ValueBuilder builder;
  std::optional<JsonProblem> problem =
      readJson(std::string_view(text), limits, builder);
  if (!problem)
    return builder.take();
  return llvm::make_error<JsonError>(std::move(problem->what),
                                     static_cast<unsigned>(problem->line),
                                     static_cast<unsigned>(problem->column));
}

std::string tessera::reasonInLine(llvm::Error error) {
  std::string reason;
  llvm::handleAllErrors(
      std::move(error),
      [&](const JsonError &json) {
        reason = "column " + std::to_string(json.column) + ": " + json.what;
      },
      [&](const llvm::ErrorInfoBase &other) { reason = other.message(); });
  return reason;
}
