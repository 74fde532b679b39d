//===- ConfigFile.cpp - a JSON object whose keys have locations -----------===//

#include "lib/Import/ConfigFile.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "llvm/Support/FormatVariadic.h"
#include <charconv>
#include <iterator>

using namespace mlir;
using namespace tessera;

Location ConfigFile::locate(Position position) const {
  return FileLineColLoc::get(context, path, position.line, position.column);
}

Location ConfigFile::at(StringRef key) const {
  auto it = positions.find(key);
  return locate(it == positions.end() ? whole : it->second);
}

InFlightDiagnostic ConfigFile::error(StringRef key) const {
  return emitError(at(key));
}

InFlightDiagnostic ConfigFile::error() const {
  return emitError(UnknownLoc::get(context));
}

const llvm::json::Value *ConfigFile::find(StringRef key) const {
  const llvm::json::Value *value = root.get(key);
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

bool ConfigFile::isNull(StringRef key) const {
  const llvm::json::Value *value = root.get(key);
  return value && value->kind() == llvm::json::Value::Null;
}

FailureOr<ConfigFile> ConfigFile::nested(StringRef key) const {
  const llvm::json::Object *object = find(key)->getAsObject();
  if (!object)
    return wrongType(key, "an object");
  ConfigFile inner(context, path);
  inner.root = *object;
  inner.whole = positions.lookup(key);
  return inner;
}

/// Finds where each key of the outermost object stands.
void ConfigFile::scan(StringRef text) {
  Position here;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i, ++here.column) {
    char c = text[i];
    if (c == '\n') {
      ++here.line;
      here.column = 0;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      if (depth == 1 && text.substr(end + 1).ltrim().starts_with(":"))
        positions[text.slice(i + 1, end)] = here; // the last one counts
      if (end >= text.size() || text[end] == '\n')
        return; // unterminated: the parser says so
      here.column += end - i;
      i = end;
    }
  }
}

LogicalResult ConfigFile::parse(StringRef text, const JsonLimits &limits) {
  llvm::Expected<llvm::json::Value> value = parseJson(text, limits);
  if (!value) {
    llvm::handleAllErrors(value.takeError(), [&](const JsonError &error) {
      emitError(locate({error.line, error.column}))
          << "malformed JSON: " << error.what;
    });
    return failure();
  }
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return emitError(locate({}))
           << "is not a JSON object; a model's config starts with '{'";
  root = std::move(*object);
  return success();
}

FailureOr<ConfigFile> ConfigFile::read(MLIRContext *context, StringRef path,
                                       const JsonLimits &limits) {
  auto buffer = readText(path, limits);
  ConfigFile file(context, path);
  if (!buffer)
    return emitError(UnknownLoc::get(context))
           << llvm::toString(buffer.takeError());
  StringRef text = (*buffer)->getBuffer();
  file.scan(text);
  if (failed(file.parse(text, limits)))
    return failure();
  file.content = text.str();
  return file;
}

LogicalResult ConfigFile::rename(StringRef alias, StringRef key) {
  const llvm::json::Value *given = root.get(alias);
  if (!given)
    return success();
  if (find(alias) && find(key) && *given != *find(key))
    return error(alias) << llvm::formatv("'{0}' = {1} and '{2}' = {3} are two "
                                         "names of one value; remove "
                                         "one of them",
                                         alias, *given, key, *find(key))
                               .str();
  if (find(alias) && !find(key)) {
    llvm::json::Value value = *given;
    positions[key] = positions.lookup(alias);
    root[key.str()] = std::move(value);
  }
  root.erase(alias);
  return success();
}

LogicalResult ConfigFile::require(ArrayRef<llvm::StringLiteral> keys) const {
  for (StringRef key : keys)
    if (!find(key))
      return emitError(locate(whole))
             << "lacks the required key '" << key << "'";
  return success();
}

LogicalResult ConfigFile::wrongType(StringRef key, StringRef wanted) const {
  return error(key) << "'" << key << "' must be " << wanted << ", but is "
                    << llvm::formatv("{0}", *find(key)).str();
}

//===----------------------------------------------------------------------===//
// Values in effect
//===----------------------------------------------------------------------===//

void ConfigFile::note(StringRef key, const llvm::json::Value &value) const {
  (*noted)[key.str()] = llvm::formatv("{0}", value).str();
}

void ConfigFile::note(StringRef key, int64_t value) const {
  (*noted)[key.str()] = std::to_string(value);
}

/// Notes the shortest digits that mean the number, which are JSON, too.
void ConfigFile::note(StringRef key, double value) const {
  char digits[64];
  char *end = std::to_chars(digits, std::end(digits), value).ptr;
  (*noted)[key.str()] = std::string(digits, end);
}

void ConfigFile::note(StringRef key, bool value) const {
  (*noted)[key.str()] = value ? "true" : "false";
}

void ConfigFile::note(StringRef key, StringRef value) const {
  note(key, llvm::json::Value(llvm::json::fixUTF8(value)));
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

LogicalResult ConfigFile::read(StringRef key, int64_t &value,
                               Bounds<int64_t> legal) const {
  const llvm::json::Value *found = find(key);
  if (!found)
    return note(key, value), success();
  std::optional<int64_t> number = found->getAsInteger();
  if (!number)
    return wrongType(key, "an integer");
  if (*number < legal.least || *number > legal.most)
    return error(key) << "'" << key << "' = " << *number
                      << " is out of range; it must be in [" << legal.least
                      << ", " << legal.most << "]";
  value = *number;
  note(key, value);
  return success();
}

LogicalResult ConfigFile::read(StringRef key, double &value,
                               Bounds<double> legal) const {
  const llvm::json::Value *found = find(key);
  if (!found)
    return note(key, value), success();
  std::optional<double> number = found->getAsNumber();
  if (!number)
    return wrongType(key, "a number");
  if (!(*number >= legal.least && *number < legal.most))
    return error(key) << llvm::formatv(
                             "'{0}' = {1} is out of range; it must be in "
                             "[{2}, {3})",
                             key, *found, llvm::json::Value(legal.least),
                             llvm::json::Value(legal.most))
                             .str();
  value = *number;
  note(key, value);
  return success();
}

LogicalResult ConfigFile::read(StringRef key, bool &value) const {
  const llvm::json::Value *found = find(key);
  if (!found)
    return note(key, value), success();
  std::optional<bool> flag = found->getAsBoolean();
  if (!flag)
    return wrongType(key, "true or false");
  value = *flag;
  note(key, value);
  return success();
}

LogicalResult ConfigFile::read(StringRef key, std::string &value) const {
  const llvm::json::Value *found = find(key);
  if (!found)
    return note(key, StringRef(value)), success();
  std::optional<StringRef> text = found->getAsString();
  if (!text)
    return wrongType(key, "a string");
  value = text->str();
  note(key, *text);
  return success();
}
