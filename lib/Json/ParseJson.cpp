//===- ParseJson.cpp - JSON from outside as values ------------------------===//

#include "tessera/Json/ParseJson.h"
#include "tessera/Json/LfsPointer.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>
#include <optional>

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

/// Builds values of what the parser finds. Each method returns whether the
/// parser goes on.
class ValueBuilder {
public:
  explicit ValueBuilder(StringRef text) : text(text) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(int64_t value) { return put(value); }
  bool number_unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX))
      return put(static_cast<int64_t>(value));
    return put(value);
  }
  bool number_float(double value, const std::string &) { return put(value); }
  bool string(std::string &value) { return put(std::move(value)); }
  bool binary(nlohmann::json::binary_t &) { return false; } // not in texts
  bool start_object(size_t) { return start(json::Object()); }
  bool start_array(size_t) { return start(json::Array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(std::string &name) {
    open.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::json::exception &error) {
    // The position counts the character that is wrong.
    size_t at = position > 0 ? position - 1 : 0;
    wrong = Wrong{reasonAt(at, error.what()), at};
    return false;
  }

  json::Value take() { return std::move(root); }

  struct Wrong {
    std::string what;
    size_t offset;
  };
  std::optional<Wrong> wrong;

private:
  struct Container {
    json::Value value;
    std::string key; ///< Of the member that comes next.
  };

  bool start(json::Value container) {
    if (open.size() == kMostJsonDepth) {
      wrong = Wrong{"arrays and objects nest more than " +
                        std::to_string(kMostJsonDepth) + " deep",
                    openingBracket()};
      return false;
    }
    open.push_back({std::move(container), ""});
    return true;
  }
  bool end() {
    json::Value done = std::move(open.back().value);
    open.pop_back();
    return put(std::move(done));
  }
  bool put(json::Value value) {
    if (open.empty())
      root = std::move(value);
    else if (json::Array *array = open.back().value.getAsArray())
      array->push_back(std::move(value));
    else
      (*open.back().value.getAsObject())[std::move(open.back().key)] =
          std::move(value);
    return true;
  }
  size_t openingBracket() const;
  std::string reasonAt(size_t offset, StringRef message) const;

  StringRef text;
  json::Value root = nullptr;
  llvm::SmallVector<Container, 8> open;
};

/// Returns where the first bracket stands that is too deep, which the parser
/// does not say.
size_t ValueBuilder::openingBracket() const {
  size_t depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{') && ++depth > kMostJsonDepth)
      return i;
    else if (!isString && (c == ']' || c == '}'))
      --depth;
  }
  return text.size();
}

/// The library's message reads "[..] parse error at line 1, column 2: syntax
/// error while parsing value - what; last read: '..'; expected ..".
std::string ValueBuilder::reasonAt(size_t offset, StringRef message) const {
  StringRef rest = text.substr(offset);
  for (StringRef name : {"NaN", "Infinity"})
    if (rest.starts_with(name))
      return (name + " is not JSON; write null or a number").str();
  if (message.contains("number overflow"))
    return "the number is beyond all doubles";
  size_t reason = message.find(" - ");
  if (reason == StringRef::npos)
    return message.str();
  return message.substr(reason + 3).split("; last read: ").first.str();
}

llvm::Error errorAt(StringRef text, size_t offset, std::string what) {
  StringRef before = text.take_front(offset);
  size_t line = before.count('\n') + 1;
  size_t newline = before.rfind('\n');
  size_t column = newline == StringRef::npos ? offset : offset - newline - 1;
  return llvm::make_error<JsonError>(std::move(what),
                                     static_cast<unsigned>(line),
                                     static_cast<unsigned>(column + 1));
}

/// Names what begins like another encoding, which would only be "invalid".
const char *otherEncoding(StringRef text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return "the text is UTF-16; save it as UTF-8";
  if (text.size() > 1 && (text[0] == '\0' || text[1] == '\0'))
    return "the text is UTF-16 or UTF-32, or binary; save it as UTF-8";
  return nullptr;
}

} // namespace

llvm::Expected<json::Value> tessera::parseJson(StringRef text) {
  if (text.starts_with(kLfsPointerStart))
    return errorAt(text, 0, std::string("this ") + kIsLfsPointer);
  if (const char *what = otherEncoding(text))
    return errorAt(text, 0, what);
  // The library takes it for the end, and would not look at what follows.
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return errorAt(text, zero, "a byte of 0 is not JSON");
  ValueBuilder builder(text);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.wrong)
    return errorAt(text, builder.wrong->offset, std::move(builder.wrong->what));
  return builder.take();
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
