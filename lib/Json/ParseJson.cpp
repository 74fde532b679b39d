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

/// Builds values of what passes the limits, but for entries that are taken.
class ValueBuilder {
public:
  /// A table with one key has 64 buckets of 64 bytes.
  static constexpr size_t kValuesOfObject = 32;

  explicit ValueBuilder(const JsonEntries *entries = nullptr)
      : entries(entries) {}

  void put(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX))
      add(static_cast<int64_t>(value));
    else
      add(value);
  }
  template <class T> void put(T value) {
    ++counted;
    add(std::move(value));
  }
  void openObject() { openContainer(json::Object(), kValuesOfObject); }
  void openArray() { openContainer(json::Array(), 1); }
  size_t close() {
    Container done = std::move(open.back());
    open.pop_back();
    bool isTaken = isEntry();
    add(std::move(done.value));
    if (!isTaken)
      return 0;
    size_t dropped = counted - done.before;
    counted = done.before;
    return dropped;
  }
  bool addKey(std::string &&name) {
    if (open.back().value.getAsObject()->get(name))
      return false;
    ++counted;
    open.back().key = std::move(name);
    return true;
  }

  json::Value take() { return std::move(root); }
  /// Why the first entry that was not wanted was refused.
  llvm::Error takeError() { return std::move(refused); }

private:
  struct Container {
    json::Value value;
    std::string key;   ///< The name of the member that comes next.
    size_t before = 0; ///< Values that were counted before it.
  };

  void openContainer(json::Value empty, size_t values) {
    open.push_back({std::move(empty), "", counted});
    counted += values;
  }

  /// Returns whether the next value is an entry of a list that is taken.
  bool isEntry() const {
    return entries && open.size() >= 2 &&
           open.back().value.kind() == json::Value::Array &&
           open[open.size() - 2].value.kind() == json::Value::Object &&
           open[open.size() - 2].key == entries->key;
  }

  void add(json::Value value) {
    if (isEntry()) {
      if (!refused)
        refused = entries->take(open.size() - 1, std::move(value));
      return;
    }
    if (open.empty())
      root = std::move(value);
    else if (json::Array *array = open.back().value.getAsArray())
      array->push_back(std::move(value));
    else
      (*open.back().value.getAsObject())[std::move(open.back().key)] =
          std::move(value);
  }

  const JsonEntries *entries;
  json::Value root = nullptr;
  llvm::SmallVector<Container, 8> open;
  size_t counted = 0; ///< Values that are kept, as the limits count them.
  llvm::Error refused = llvm::Error::success();
};

llvm::Expected<json::Value> parseInto(ValueBuilder &&builder, StringRef text,
                                      const JsonLimits &limits) {
  if (text.starts_with(kLfsPointerStart))
    return llvm::make_error<JsonError>(std::string("this ") + kIsLfsPointer, 1,
                                       1);
  std::optional<JsonProblem> problem =
      readJson(std::string_view(text), limits, builder);
  llvm::Error refused = builder.takeError();
  if (!problem && !refused)
    return builder.take();
  if (!problem)
    return refused;
  llvm::consumeError(std::move(refused));
  return llvm::make_error<JsonError>(std::move(problem->what),
                                     static_cast<unsigned>(problem->line),
                                     static_cast<unsigned>(problem->column));
}

} // namespace

llvm::Expected<json::Value> tessera::parseJson(StringRef text,
                                               const JsonLimits &limits) {
  return parseInto(ValueBuilder(), text, limits);
}

llvm::Expected<json::Value> tessera::parseJson(StringRef text,
                                               const JsonLimits &limits,
                                               const JsonEntries &entries) {
  return parseInto(ValueBuilder(&entries), text, limits);
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
